import type { VisitorMessage, Widget } from '../api/openapi.ts'
import { textColorOn } from './brand-color.ts'
import { element, icon, linkedText } from './element.ts'
import { WIDGET_STYLE } from './style.ts'
import type { WidgetText } from '../../../client-text/en.ts'

const CHAT_LINE = 'M21 12a8 8 0 0 1-8 8H4l2-3.5A8 8 0 1 1 21 12Z'
const CROSS_LINE = 'M6 6l12 12M18 6L6 18'

export interface ChatEvents {
  onToggle: (isOpen: boolean) => void
  onSend: (body: string) => void
  onRetry: (id: string) => void
}

export type ChatWindow = ReturnType<typeof createChatWindow>

/** The launcher and the window, in a shadow root: styles of the page and of the widget do not mix. */
export function createChatWindow(brand: Widget, base: string, text: WidgetText, events: ChatEvents) {
  const title = brand.name ?? text.chat
  const parts = createParts(brand, base, text, title)
  const { host, launcher, panel, close, form, input, log } = parts
  let isOpen = false

  const toggle = (open: boolean) => {
    isOpen = open
    panel.hidden = !open
    launcher.setAttribute('aria-expanded', String(open))
    ;(open ? input : launcher).focus()
    log.scrollTop = log.scrollHeight
    events.onToggle(open)
  }
  const submit = () => {
    const body = input.value.trim()
    if (!body || !form.reportValidity()) return
    input.value = ''
    events.onSend(body)
  }
  launcher.addEventListener('click', () => toggle(!isOpen))
  close.addEventListener('click', () => toggle(false))
  panel.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') toggle(false)
    // The page must not take letters that are typed here for its shortcuts.
    event.stopPropagation()
  })
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    submit()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    submit()
  })
  document.body.append(host)
  return { ...messageList(parts, text, title, brand.language, events), ...contactForm(parts), isOpen: () => isOpen }
}

function createParts(brand: Widget, base: string, text: WidgetText, title: string) {
  const badge = element('span', { class: 'badge', 'aria-hidden': 'true', hidden: true })
  const launcher = element(
    'button',
    { class: 'launcher', type: 'button', 'aria-label': text.open, 'aria-expanded': 'false', 'aria-haspopup': 'dialog' },
    icon(CHAT_LINE),
    badge,
  )
  const close = element('button', { class: 'close', type: 'button', 'aria-label': text.close }, icon(CROSS_LINE))
  const logo = brand.logo_url ? element('img', { src: base + brand.logo_url, alt: '' }) : null
  const welcome = element('p', { class: 'welcome' }, brand.welcome ?? text.welcome)
  const working = element('p', { class: 'working', hidden: true }, `${text.working} …`)
  const log = element(
    'div',
    { class: 'log', role: 'log', 'aria-label': text.messages, tabindex: '0' },
    welcome,
    working,
  )
  const status = element('p', { class: 'status', role: 'status' })
  const input = element('textarea', {
    rows: '1',
    maxlength: '10000',
    'aria-label': text.message,
    placeholder: text.message,
  })
  const name = element('input', { autocomplete: 'name', maxlength: '200' })
  const email = element('input', { type: 'email', autocomplete: 'email', maxlength: '320' })
  const contact = element(
    'details',
    {},
    element('summary', {}, brand.notifies ? text.contactForMail : text.contact),
    element('label', {}, text.name, name),
    element('label', {}, text.email, email),
    element('p', { class: 'hint' }, text.contactHint),
  )
  const send = element('button', { class: 'send', type: 'submit' }, text.send)
  const form = element('form', {}, contact, element('div', { class: 'line' }, input, send))
  const panel = element(
    'section',
    { class: 'panel', role: 'dialog', 'aria-label': title, hidden: true },
    element('header', {}, logo, element('h2', {}, title), close),
    log,
    status,
    form,
  )
  const host = element('div', { lang: brand.language })
  styleHost(host, brand.color).append(element('aside', { 'aria-label': title }, launcher, panel))
  return { host, launcher, badge, panel, close, log, working, status, form, input, contact, name, email }
}

function styleHost(host: HTMLElement, color: string | null): ShadowRoot {
  if (color) {
    host.style.setProperty('--brand', color)
    host.style.setProperty('--on-brand', textColorOn(color))
  }
  const root = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(WIDGET_STYLE)
  root.adoptedStyleSheets = [sheet]
  return root
}

type ChatParts = ReturnType<typeof createParts>

function messageList(
  { log, working, launcher, badge, status }: ChatParts,
  text: WidgetText,
  title: string,
  language: string,
  { onRetry }: ChatEvents,
) {
  const clock = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' })
  const pending = new Map<string, HTMLElement>()
  const append = (message: HTMLElement) => {
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80
    working.before(message)
    if (isAtEnd) log.scrollTop = log.scrollHeight
  }
  return {
    /** A message that is on its way to the server. */
    showPending(id: string, body: string) {
      const message = messageElement('visitor', text.you, body)
      pending.set(id, message)
      append(message)
      log.scrollTop = log.scrollHeight
    },
    showFailed(id: string, reason: string) {
      const retry = element('button', { type: 'button' }, text.tryAgain)
      const failed = element('div', { class: 'failed' }, `${reason} `, retry)
      retry.addEventListener('click', () => {
        failed.remove()
        onRetry(id)
      })
      pending.get(id)?.append(failed)
    },
    /** A message as the server has it, in place of the pending one with the same text. */
    show({ from, body, created_at }: VisitorMessage) {
      const sent = [...pending].find(([, shown]) => from === 'visitor' && shown.dataset['body'] === body)
      if (sent) pending.delete(sent[0])
      const time = element('time', { datetime: created_at }, clock.format(new Date(created_at)))
      const message = messageElement(from, from === 'visitor' ? text.you : title, body, time)
      if (sent) sent[1].replaceWith(message)
      else append(message)
    },
    showWorking(isWorking: boolean) {
      working.hidden = !isWorking
    },
    showUnread(count: number) {
      badge.hidden = count === 0
      badge.textContent = String(count)
      launcher.setAttribute('aria-label', count === 0 ? text.open : text.openWithUnread(count))
    },
    showStatus(message: string) {
      if (status.textContent !== message) status.textContent = message
    },
  }
}

function messageElement(from: 'visitor' | 'team', name: string, body: string, time: Node | null = null): HTMLElement {
  const text = element('p', {}, element('span', { class: 'only-read' }, `${name}: `), ...linkedText(body))
  const message = element('div', { class: `message ${from}` }, text, time)
  message.dataset['body'] = body
  return message
}

function contactForm({ contact, name, email }: ChatParts) {
  return {
    /** The address that the visitor typed; empty without one. */
    readContact: () => ({
      ...(email.value.trim() && { email: email.value.trim() }),
      ...(email.value.trim() && name.value.trim() && { name: name.value.trim() }),
    }),
    hideContact() {
      contact.hidden = true
      email.value = ''
    },
  }
}
