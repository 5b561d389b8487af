import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { chromium as chromiumPath } from '../../scripts/machine.mjs'
import { type App, startApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createSystemWorld } from '../../src/ctx/system-world.ts'
import { FOUNDER_KEY, testSettings, writeFiles } from '../app.ts'
import { type ApiResponse, callApi } from '../http.ts'
import { respondJson, openFakeUpstream, type ReceivedRequest } from '../fake-upstream.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A browser and a service by the clock on the wall, as a person would meet them. */
export interface Console {
  app: App
  url: string
  /** What the outside world received through a connection. */
  received: ReceivedRequest[]
  call(method: string, path: string, body?: unknown): Promise<ApiResponse>
  /** Stops the service and starts it again at the same address and on the same data, with more settings. */
  restart(settings: Record<string, string>): Promise<void>
  /** A new page, like a new person's; the test fails when it logs an error or breaks the Content-Security-Policy. */
  open(path: string, options?: PageOptions): Promise<Page>
}

type PageOptions = BrowserContextOptions & { signedIn?: boolean; token?: string; expected?: RegExp }

/** A wedge whose one action goes through a connection, so that it can be edited. */
const LETTERS = {
  'letters/wedge.json': {
    wedge: 'letters',
    title: 'Letters',
    connections: ['post'],
    approvals: [{ action: 'post:send', risk: 'medium', required: true }],
    task_types: { write: { description: 'Send one letter. Input: to, subject.' }, pretend: {} },
  },
  'letters/rehearsals/write.json': [
    {
      say: 'I send the letter.',
      call: {
        tool: 'act',
        input: {
          connection: 'post',
          capability: 'post:send',
          payload: { to: '{{input.to}}', subject: '{{input.subject}}' },
        },
      },
    },
    { output: { sent: true } },
  ],
  // Called after another way than the one that it takes.
  'letters/rehearsals/pretend.json': [
    { call: { tool: 'act', input: { connection: 'post', capability: 'bank:send', payload: { to: '{{input.to}}' } } } },
    { output: { sent: true } },
  ],
}

/** A wedge that only speaks, for long. */
const POEMS = {
  'poems/wedge.json': {
    wedge: 'poems',
    title: 'Poems',
    task_types: { recite: { description: 'Say a long poem.', harness: { steps: 40 } } },
  },
  'poems/rehearsals/recite.json': [
    ...Array.from({ length: 30 }, (_, verse) => ({
      say: `Verse ${verse}. ${'The ship goes out and the ship comes home. '.repeat(6)}`,
      call: { tool: 'records_put', input: { collection: 'verses', key: `v${verse}`, value: { verse } } },
    })),
    { output: { said: true } },
  ],
}

/** `settings` as the environment would hold them, beside those that every test has. */
export function sharedConsole(settings: Record<string, string> = {}): () => Console {
  let browser: Browser
  let started: Awaited<ReturnType<typeof startService>>
  beforeAll(async () => {
    const [service, launched] = await Promise.all([startService(settings), launch()])
    started = service
    browser = launched
  })
  afterAll(async () => {
    await browser?.close()
    await started?.stop()
  })
  const restart = async (more: Record<string, string>) => {
    started = { ...started, app: await started.again(more) }
  }
  return () => ({ ...started, restart, open: (path, options) => openPage(browser, started.url + path, options) })
}

function launch(): Promise<Browser> {
  const executablePath = chromiumPath()
  if (!executablePath) throw new Error('Chromium is not installed')
  const quiet = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  const args = [...quiet, '--disable-component-update', '--disable-sync', '--no-sandbox']
  return chromium.launch({ executablePath, headless: true, args })
}

async function startService(given: Record<string, string>) {
  const dir = mkdtempSync(join(tmpdir(), 'svc-console-'))
  cpSync(join(root, 'wedges'), join(dir, 'wedges'), { recursive: true })
  writeFiles(join(dir, 'wedges'), { ...LETTERS, ...POEMS })
  cpSync(join(root, 'blueprints'), join(dir, 'blueprints'), { recursive: true })
  const outside = await openFakeUpstream()
  outside.respond = ({ body }, response) => {
    if (JSON.parse(body || '{}').subject === 'Unanswered') response.destroy()
    else respondJson(response, 200, { ok: true })
  }
  const settings = {
    ...testSettings(dir),
    SVC_EGRESS_ALLOW: '127.0.0.1',
    SVC_LOG_LEVEL: 'silent',
    ...given,
  }
  const start = (more: Record<string, string> = {}) => {
    const env: Record<string, string> = { ...settings, ...more }
    return startApp(loadConfig(env, dir), { ...createSystemWorld('silent'), env: (name) => env[name] })
  }
  let app = await start()
  const config = { url: `${outside.url}/post` }
  await callApi(app.url, FOUNDER_KEY, 'POST', '/v1/connections', { kind: 'webhook', name: 'post', config })
  return {
    app,
    url: app.url,
    received: outside.received,
    call: (method: string, path: string, body?: unknown) => callApi(app.url, FOUNDER_KEY, method, path, body),
    async again(more: Record<string, string>) {
      await app.stop()
      app = await start({ SVC_PORT: new URL(app.url).port, ...more })
      return app
    },
    async stop() {
      await app.stop()
      await outside.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function openPage(
  browser: Browser,
  url: string,
  { signedIn = true, token = FOUNDER_KEY, expected = REFUSED, ...options }: PageOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', ...options })
  if (signedIn) {
    // Once a tab: who signs out stays signed out.
    const script = `sessionStorage.getItem('test') || (sessionStorage.setItem('svc.token', '${token}'), sessionStorage.setItem('test', '1'))`
    await context.addInitScript(script)
  }
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(String(error)))
  onTestFinished(async () => {
    await context.close()
    expect(faults.filter((fault) => !expected.test(fault))).toEqual([])
  })
  await page.goto(url)
  return page
}

/** A browser logs every refusal; those that a test asks for are told on the page. */
const REFUSED = /the server responded with a status of 40[139]/

const axe = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8')

/** What a machine can find wrong for people who do not see, hear or point well. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found: { id: string; nodes: { html: string; failureSummary: string }[] }[] = await page.evaluate(
    `axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'],
      rules: { 'label-content-name-mismatch': { enabled: true } },
    }).then((r) => r.violations)`,
  )
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

export const TOO_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
/** How much of the page moved under the reader since it was opened; browsers call less than 0.1 good. */
export const SHIFTED = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => (sum += entry.value)))
    .observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve(sum), 100)
})`
