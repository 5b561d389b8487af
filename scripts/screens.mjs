// Makes the pictures of docs/screens with a service and a browser of its own.
//   npm run screens              all pictures
//   npm run screens portal brand only those whose names begin with one of the words
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { chromium as chromiumPath } from './machine.mjs'
import { approveReply, createNotifiedMember, sendCustomerMessage } from './screens-samples.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const KEY = 'svc_key_screens_0123456789abcdefghijkl'
const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 760 }
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><circle cx="24" cy="24" r="23" fill="#0b7a5d"/>
<path d="M12 22h20v7a9 9 0 0 1-9 9h-2a9 9 0 0 1-9-9zM32 24h3a4 4 0 0 1 0 8h-3" fill="none" stroke="#fff" stroke-width="3"/>
<path d="M18 11v6M26 11v6" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>`
const PEOPLE = ['Ada', 'Kim', 'Linus', 'Grace', 'Noor', 'Omar']

const folder = mkdtempSync(join(tmpdir(), 'svc-screens-'))
/** The page of a shop, which shows the widget. */
let shopPage = ''
/** @type {string[]} The mails about approvals. */
const mails = []
const receiver = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    if (request.url === '/email') mails.push(body)
    if (request.url === '/shop') response.setHeader('content-type', 'text/html').end(shopPage)
    else response.end('{}')
  })
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const service = spawn(process.execPath, [join(root, 'dist/svc.mjs'), 'serve'], {
  cwd: root,
  env: {
    ...process.env,
    SVC_PORT: '0',
    SVC_DATA_DIR: folder,
    SVC_FOUNDER_API_KEY: KEY,
    SVC_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    SVC_EGRESS_ALLOW: '127.0.0.1',
    SVC_LOG_LEVEL: 'warn',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const exited = once(service, 'exit')
const browser = await chromium.launch({ executablePath: chromiumPath() ?? 'chromium', args: ['--no-sandbox'] })
try {
  const url = await addressOf(service)
  const samples = await createSamples(url)
  await shootAll(url, samples)
  await shootNotifications(url)
  await shootWidget(url)
} finally {
  await browser.close()
  service.kill('SIGTERM')
  await exited
  receiver.close()
  rmSync(folder, { recursive: true, force: true })
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<string>}
 */
function addressOf(child) {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
      const found = /listens on (http:\/\/[\d.:]+)/.exec(output)
      if (found?.[1]) resolve(found[1])
    })
    child.once('exit', () => reject(new Error(`the service did not start: ${output}`)))
  })
}

/** @param {string} url */
async function createSamples(url) {
  /** @param {string} path @param {object} body */
  const create = async (path, body) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
    /** @type {Record<'id' | 'client_id' | 'thread_id' | 'task_id' | 'url', string>} */
    const created = JSON.parse(await response.text())
    return created
  }
  const hook = { url: `${receiverOrigin()}/hooks`, events: ['approval.requested', 'task.finished'] }
  await create('/v1/webhooks', hook)
  await create('/v1/blueprints/refund-desk/provision', {})
  /** @param {number} number @param {number} amount_usd */
  const refund = (number, amount_usd) => {
    const customer_email = `${PEOPLE[number % PEOPLE.length]?.toLowerCase()}@example.com`
    const input = { order_id: `A-${1010 + number}`, amount_usd, reason: 'arrived damaged', customer_email }
    return create('/v1/tasks', { wedge: 'refund-desk', task_type: 'handle_request', input })
  }
  const finished = await refund(0, 19.9)
  for (let number = 1; number < 8; number++) await refund(number, 20 + number)
  const mail = { kind: 'email', name: 'support', config: {} }
  const connection = await create('/v1/connections', mail)
  const bound = { connection_id: connection.id, address: 'help@example.com' }
  const channel = await create('/v1/channels', { ...bound, wedge: 'inbox-triage', task_type: 'acknowledge' })
  const inbound = await create(`/v1/channels/${channel.id}/inbound`, {
    from: { handle: 'grace@example.com', name: 'Grace' },
    subject: 'Cannot log in',
    body: 'I am locked out of my account since this morning.',
  })
  const asked = await createDrafts(create, connection.id)
  const stages = { 'INV-201': 'escalated', 'INV-207': 'reminded', 'INV-214': 'open' }
  for (const [invoice, stage] of Object.entries(stages)) {
    await create('/v1/cases', { wedge: 'invoice-chaser', title: `Invoice ${invoice}`, stage })
  }
  const about = { wedge: 'inbox-triage', title: 'Invoice for March', thread_id: asked.thread_id }
  const openCase = await create('/v1/cases', { ...about, data: { invoice: 'INV-0314', amount_usd: 84.5 } })
  const link = await create(`/v1/clients/${inbound.client_id}/portal-link`, {})
  await refund(8, 100.5)
  const waiting = await refund(9, 102.5)
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  await create(`/v1/threads/${inbound.thread_id}/messages`, { body: 'Your account is unlocked again.' })
  await createBrand(url, channel.id, connection.id)
  const other = await create(`/v1/clients/${inbound.client_id}/portal-link`, {})
  const portals = [link, other]
    .map((one) => new URL(one.url))
    .map(({ pathname, search, hash }) => pathname + search + hash)
  const draft = await approvalOf(url, asked.task_id)
  const shown = { portals, conversation: asked.thread_id, openCase: openCase.id, draft }
  return { waiting: waiting.id, finished: finished.id, ...shown }
}

/**
 * Two messages of clients, for which the agent writes drafts.
 * @param {(path: string, body: object) => Promise<Record<'id' | 'client_id' | 'thread_id' | 'task_id' | 'url', string>>} create
 * @param {string} connectionId
 */
async function createDrafts(create, connectionId) {
  const support = { connection_id: connectionId, address: 'support@example.com', wedge: 'inbox-triage' }
  const drafts = await create('/v1/channels', { ...support, task_type: 'triage' })
  const asked = await create(`/v1/channels/${drafts.id}/inbound`, {
    from: { handle: 'noor@example.com', name: 'Noor' },
    subject: 'Invoice for March',
    body: 'Hello,\n\ncan you send me the invoice for March again? I cannot find it in my account.\n\nThank you\nNoor',
  })
  await create(`/v1/channels/${drafts.id}/inbound`, {
    from: { handle: 'omar@example.com', name: 'Omar' },
    subject: 'Delivery',
    body: 'Where is my parcel? It should have been here on Monday.',
  })
  return asked
}

/** @param {string} url @param {string} taskId @returns {Promise<string>} */
async function approvalOf(url, taskId) {
  const headers = { authorization: `Bearer ${KEY}` }
  const response = await fetch(`${url}/v1/approvals?task_id=${taskId}`, { headers })
  return JSON.parse(await response.text()).data[0].approval_id
}

/** @param {string} url @param {string} portal_channel_id @param {string} mail_connection_id */
async function createBrand(url, portal_channel_id, mail_connection_id) {
  const logo = await fetch(`${url}/v1/files?name=logo.svg`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'image/svg+xml' },
    body: LOGO,
  })
  /** @type {{ id: string }} */
  const { id: logo_file_id } = JSON.parse(await logo.text())
  const brand = {
    name: 'Teapot Shop',
    color: '#0b7a5d',
    welcome: 'Ask us anything about your order.',
    logo_file_id,
    favicon_file_id: logo_file_id,
    portal_channel_id,
    mail_connection_id,
    notify: true,
  }
  await fetch(`${url}/v1/brand`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(brand),
  })
}

/** @param {string} url @param {Awaited<ReturnType<typeof createSamples>>} samples */
async function shootAll(
  url,
  { waiting, finished, portals: [phone = '', desktop = ''], conversation, openCase, draft },
) {
  await shoot(url, 'home', '/')
  await shoot(url, 'approvals', '/approvals')
  await shoot(url, 'approvals-phone', '/approvals', { viewport: PHONE })
  await shoot(url, 'approval', `/approvals?id=${draft}`, { viewport: { ...DESKTOP, height: 1_240 } })
  await shoot(url, 'approval-phone-dark', `/approvals?id=${draft}`, { viewport: PHONE, colorScheme: 'dark' })
  await shoot(url, 'approval-batch', '/approvals', { press: ['Select all'] })
  await shoot(url, 'conversations', `/conversations/${conversation}`)
  await shoot(url, 'conversation-phone', `/conversations/${conversation}`, { viewport: PHONE, colorScheme: 'dark' })
  await shoot(url, 'tasks', '/tasks')
  await shoot(url, 'task-dark', `/tasks/${waiting}`, { colorScheme: 'dark' })
  await shoot(url, 'trace-dark', `/tasks/${finished}?view=trace`, { colorScheme: 'dark' })
  await shoot(url, 'run', '/run?wedge=refund-desk&task_type=handle_request')
  await shoot(url, 'cases', '/cases?wedge=invoice-chaser')
  await shoot(url, 'case', `/cases/${openCase}`)
  await shoot(url, 'channel', '/channels', { press: ['New channel'] })
  await shoot(url, 'policy', '/wedges/refund-desk?view=policy', { press: ['Simulate'] })
  await shoot(url, 'blueprints', '/blueprints?slug=refund-desk')
  await shoot(url, 'connect', '/connections', { press: ['New connection'] })
  await shoot(url, 'connection', '/connections', { press: ['stripe'] })
  await shoot(url, 'webhooks', '/webhooks')
  await shoot(url, 'brand', '/settings?view=brand')
  await shoot(url, 'portal-sign-in', '/portal?project=default', { signedIn: false })
  const inPortal = { signedIn: false, press: ['Continue', 'Cannot log in'] }
  await shoot(url, 'portal-phone', phone, { ...inPortal, viewport: PHONE })
  await shoot(url, 'portal-dark', desktop, { ...inPortal, colorScheme: 'dark' })
}

/** @param {string} url */
async function shootNotifications(url) {
  const member = await createNotifiedMember(url, KEY, { address: receiverOrigin(), bodies: mails })
  await sendCustomerMessage(url, KEY, 'support@example.com')
  const decide = await member.nextDecisionPath()
  await shoot(url, 'notifications', '/settings?view=notifications', { token: member.session })
  await shoot(url, 'decide-phone', decide, { viewport: PHONE, signedIn: false })
  await shoot(url, 'decide-dark', decide, { colorScheme: 'dark', signedIn: false })
}

function receiverOrigin() {
  const address = receiver.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

/** @param {string} url */
async function shootWidget(url) {
  const origin = receiverOrigin()
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  /** @param {string} method @param {string} path @param {object} [body] */
  const call = async (method, path, body) => {
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return JSON.parse(await response.text())
  }
  await call('PUT', '/v1/brand', { name: 'Acme Shoes', color: '#0f766e', welcome: 'Ask us about orders and sizes.' })
  const connections = await call('GET', '/v1/connections')
  const binding = {
    connection_id: connections.data[0].id,
    address: 'shop',
    adapter: 'widget',
    config: { origins: [origin] },
  }
  const channel = await call('POST', '/v1/channels', { ...binding, wedge: 'inbox-triage', task_type: 'acknowledge' })
  shopPage = `<!doctype html><html lang="en"><title>Acme Shoes</title><meta name="viewport" content="width=device-width">
    <body style="margin:0;font:18px/1.6 system-ui;background:#faf8f4"><main style="max-width:46rem;margin:4rem auto;padding:0 2rem">
    <h1>Acme Shoes</h1><p>Handmade shoes for long walks. Free returns within 30 days.</p></main>
    <script src="${url}/widget.js" data-channel="${channel.id}"></script></body></html>`
  await shootShop(url, origin, 'widget', { viewport: { width: 1440, height: 900 } })
  await shootShop(url, origin, 'widget-phone', { viewport: PHONE, colorScheme: 'dark' })
}

/** @param {string} url @param {string} origin @param {string} name @param {import('playwright-core').BrowserContextOptions} options */
async function shootShop(url, origin, name, options) {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  await page.goto(`${origin}/shop`)
  await page.getByRole('button', { name: 'Open the chat' }).click()
  await page.getByLabel('Your message').fill('Does order 1017 arrive before Friday?')
  await page.keyboard.press('Enter')
  await approveReply(url, KEY)
  await page.locator('.message.team').waitFor()
  await page.screenshot({ path: join(root, 'docs/screens', `${name}.png`) })
  await context.close()
}

/**
 * @param {string} url
 * @param {string} name
 * @param {string} path
 * @param {{ viewport?: { width: number, height: number }, colorScheme?: 'dark' | 'light', signedIn?: boolean, token?: string, press?: string[] }} options
 */
async function shoot(url, name, path, options = {}) {
  const { viewport = DESKTOP, colorScheme = 'light', signedIn = true, token = KEY, press = [] } = options
  const wanted = process.argv.slice(2)
  if (wanted.length > 0 && !wanted.some((word) => name.startsWith(word))) return
  const context = await browser.newContext({ viewport, locale: 'en-GB', reducedMotion: 'reduce', colorScheme })
  if (signedIn) await context.addInitScript(`sessionStorage.setItem('svc.token', '${token}')`)
  const page = await context.newPage()
  await page.goto(url + path)
  for (const text of press) await page.getByText(text, { exact: true }).click()
  await page.waitForTimeout(1_500)
  await page.screenshot({ path: join(root, 'docs/screens', `${name}.png`) })
  await context.close()
}
