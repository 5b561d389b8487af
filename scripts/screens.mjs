// Makes the pictures of docs/screens with a service and a browser of its own.
//   npm run screens
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { chromium as chromiumPath } from './machine.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const KEY = 'svc_key_screens_0123456789abcdefghijkl'
const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 760 }
const PEOPLE = ['Ada', 'Kim', 'Linus', 'Grace', 'Noor', 'Omar']

const folder = mkdtempSync(join(tmpdir(), 'svc-screens-'))
const receiver = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
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
    /** @type {Record<'id' | 'client_id' | 'thread_id' | 'url', string>} */
    const created = JSON.parse(await response.text())
    return created
  }
  const address = receiver.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const hook = { url: `http://127.0.0.1:${port}/hooks`, events: ['approval.requested', 'task.finished'] }
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
  const { pathname, hash } = new URL(link.url)
  return {
    waiting: waiting.id,
    finished: finished.id,
    portal: pathname + hash,
    conversation: asked.thread_id,
    openCase: openCase.id,
  }
}

/**
 * Two messages of clients, for which the agent writes drafts.
 * @param {(path: string, body: object) => Promise<Record<'id' | 'client_id' | 'thread_id' | 'url', string>>} create
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

/** @param {string} url @param {Awaited<ReturnType<typeof createSamples>>} samples */
async function shootAll(url, { waiting, finished, portal, conversation, openCase }) {
  await shoot(url, 'home', '/')
  await shoot(url, 'approvals', '/approvals')
  await shoot(url, 'approvals-phone', '/approvals', { viewport: PHONE })
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
  await shoot(url, 'portal-phone', portal, { viewport: PHONE, signedIn: false, press: ['Continue', 'Cannot log in'] })
}

/**
 * @param {string} url
 * @param {string} name
 * @param {string} path
 * @param {{ viewport?: { width: number, height: number }, colorScheme?: 'dark' | 'light', signedIn?: boolean, press?: string[] }} options
 */
async function shoot(url, name, path, { viewport = DESKTOP, colorScheme = 'light', signedIn = true, press = [] } = {}) {
  const context = await browser.newContext({ viewport, locale: 'en-GB', reducedMotion: 'reduce', colorScheme })
  if (signedIn) await context.addInitScript(`sessionStorage.setItem('svc.token', '${KEY}')`)
  const page = await context.newPage()
  await page.goto(url + path)
  for (const text of press) await page.getByText(text, { exact: true }).click()
  await page.waitForTimeout(1_500)
  await page.screenshot({ path: join(root, 'docs/screens', `${name}.png`) })
  await context.close()
}
