import { CallFailed, createWidgetApi, type OutgoingMessage, type WidgetApi } from './api.ts'
import { type ChatWindow, createChatWindow } from './chat-window.ts'
import type { WidgetText } from '../../../client-text/en.ts'
import { toLanguage, WIDGET_TEXTS } from '../../../client-text/languages.ts'
import { loadVisitor, randomId, type Visitor } from './visitor.ts'

const OPEN_INTERVAL_MS = 3_000
const CLOSED_INTERVAL_MS = 20_000
const MAX_INTERVAL_MS = 60_000

interface Widget {
  api: WidgetApi
  chat: ChatWindow
  text: WidgetText
  visitor: Visitor
  unsent: Map<string, OutgoingMessage>
  thread: string | null
  lastNumber: number
  unread: number
  failures: number
  timer: number
}

const script = document.currentScript ?? document.querySelector('script[data-channel]')
if (script instanceof HTMLScriptElement && script.dataset['channel']) void start(script, script.dataset['channel'])

/** Shows the launcher. Nothing is stored or polled before the visitor has written. */
async function start(script: HTMLScriptElement, channel: string): Promise<void> {
  const base = new URL('.', script.src).href.replace(/\/$/, '')
  const visitor = loadVisitor(channel)
  const api = createWidgetApi(base, channel, () => visitor.requireKey())
  const brand = await api.readBrand().catch(() => null)
  if (!brand) return console.warn('chat: there is no widget', channel)
  const text = WIDGET_TEXTS[toLanguage(brand.language)]
  const chat = createChatWindow(brand, base, text, {
    onToggle: () => void poll(widget),
    onSend: (body) => void send(widget, { id: randomId(), body, ...chat.readContact() }),
    onRetry: (id) => {
      const message = widget.unsent.get(id)
      if (message) void deliver(widget, message)
    },
  })
  const state = { unsent: new Map(), thread: null, lastNumber: 0, unread: 0, failures: 0, timer: 0 }
  const widget: Widget = { api, chat, text, visitor, ...state }
  if (visitor.hasContact) chat.hideContact()
  document.addEventListener('visibilitychange', () => document.hidden || void poll(widget))
  await poll(widget)
}

async function send(widget: Widget, message: OutgoingMessage): Promise<void> {
  widget.chat.showPending(message.id, message.body)
  await deliver(widget, message)
}

async function deliver(widget: Widget, message: OutgoingMessage): Promise<void> {
  const { api, chat, visitor, unsent } = widget
  unsent.set(message.id, message)
  try {
    await api.sendMessage(message)
    unsent.delete(message.id)
    if (message.email) {
      visitor.hasContact = true
      visitor.save()
      chat.hideContact()
    }
    await poll(widget)
  } catch (error) {
    chat.showFailed(message.id, failureText(widget.text, error))
  }
}

function failureText(text: WidgetText, error: unknown): string {
  const status = error instanceof CallFailed ? error.status : 0
  return status === 403 ? text.notAllowed : status === 429 ? text.tooMany : text.notSent
}

/** Fetches what is new, and again after a while. After failures the pauses grow. */
async function poll(widget: Widget): Promise<void> {
  clearTimeout(widget.timer)
  if (widget.visitor.key === null || document.hidden) return
  try {
    await fetchMessages(widget)
    widget.failures = 0
    widget.chat.showStatus('')
  } catch {
    widget.failures++
    widget.chat.showStatus(widget.text.offline)
  }
  const interval = widget.chat.isOpen() ? OPEN_INTERVAL_MS : CLOSED_INTERVAL_MS
  clearTimeout(widget.timer)
  widget.timer = window.setTimeout(
    () => void poll(widget),
    Math.min(MAX_INTERVAL_MS, interval * 2 ** Math.min(widget.failures, 5)),
  )
}

async function fetchMessages(widget: Widget): Promise<void> {
  const { api, chat } = widget
  const isOpen = chat.isOpen()
  const { thread_id, messages, read_count, is_working } = await api.readMessages(widget.lastNumber, isOpen)
  // After the team closed a conversation, the next message opens another one, which begins at 1.
  if (thread_id !== widget.thread && widget.thread !== null) {
    widget.thread = thread_id
    widget.lastNumber = 0
    return fetchMessages(widget)
  }
  widget.thread = thread_id
  for (const message of messages) {
    // Two polls may overlap.
    if (message.n <= widget.lastNumber) continue
    widget.lastNumber = message.n
    chat.show(message)
    if (message.from === 'team' && message.n > read_count) widget.unread++
  }
  if (isOpen) widget.unread = 0
  chat.showUnread(widget.unread)
  chat.showWorking(is_working)
}
