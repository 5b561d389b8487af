import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { chromium as chromiumPath } from '../../scripts/machine.mjs'
import { type App, startApp } from '../../src/server/app.ts'
import { loadConfig } from '../../src/platform/config/config.ts'
import { createSystemWorld } from '../../src/platform/ctx/system-world.ts'
import { CHEAP_PASSWORD_COST, FOUNDER_KEY, testSettings, writeFiles } from '../app.ts'
import { type ApiResponse, callApi, readEventStream } from '../http.ts'
import { respondJson, openFakeUpstream, type ReceivedRequest } from '../fake-upstream.ts'
import { CONSOLE_WEDGES } from './console-wedges.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A browser and a running service, with the real clock. */
export interface Console {
  app: App
  url: string
  /** The requests that the service sent through connections. */
  received: ReceivedRequest[]
  call(method: string, path: string, body?: unknown): Promise<ApiResponse>
  /** Restarts the service at the same address and with the same data, with more settings. */
  restart(settings: Record<string, string>, whileStopped?: () => Promise<void>): Promise<void>
  /** The folder of the wedges. */
  wedgesDir: string
  /** Opens a page of the console in a browser context of its own. */
  open(path: string, options?: PageOptions): Promise<Page>
  /** Creates a blank page in a browser context of its own. The test fails when the page logs an error. */
  newPage(options?: PageOptions): Promise<Page>
}

interface PageOptions {
  signedIn?: boolean
  token?: string
  /** Errors that the page may log. */
  expected?: RegExp
  viewport?: { width: number; height: number }
  reducedMotion?: 'reduce' | 'no-preference'
  colorScheme?: 'light' | 'dark'
  permissions?: string[]
  /** Whether the test moves the clock of the page with `page.clock`, for example to its next question for changes. */
  movesClock?: boolean
}

/** Starts one service for all tests of a describe block. `settings` extend the test settings. */
export function consoleFixture(settings: Record<string, string> = {}): () => Console {
  let started: Awaited<ReturnType<typeof startService>>
  beforeAll(async () => {
    started = await startService(settings)
  })
  afterAll(() => started?.stop())
  const open = async (path: string, options?: PageOptions) => {
    const page = await newPage(options)
    await page.goto(started.url + path)
    return page
  }
  const restart = async (more: Record<string, string>, whileStopped?: () => Promise<void>) => {
    started = { ...started, app: await started.restart(more, whileStopped) }
  }
  return () => ({ ...started, restart, open, newPage })
}

/** One browser for all test files of a worker process, because a start costs more CPU time than most tests. */
let browser: Promise<Browser> | undefined

function launch(): Promise<Browser> {
  const executablePath = chromiumPath()
  if (!executablePath) throw new Error('Chromium is not installed')
  const offlineArgs = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  // All pages of a context share one process; starting another for each page would be a third of all CPU time.
  const processArgs = ['--renderer-process-limit=1', '--no-sandbox']
  const args = [...offlineArgs, '--disable-component-update', '--disable-sync', ...processArgs]
  return chromium.launch({ executablePath, headless: true, args })
}

/** The services of a worker process use the same address, so that the browser has the scripts of the console in its cache. */
let freedPort = '0'

async function startService(extraSettings: Record<string, string>) {
  const dir = mkdtempSync(join(tmpdir(), 'svc-console-'))
  cpSync(join(root, 'wedges'), join(dir, 'wedges'), { recursive: true })
  writeFiles(join(dir, 'wedges'), CONSOLE_WEDGES)
  cpSync(join(root, 'blueprints'), join(dir, 'blueprints'), { recursive: true })
  const upstream = await openFakeUpstream()
  upstream.respond = ({ body }, response) => {
    if (JSON.parse(body || '{}').subject === 'Unanswered') response.destroy()
    else respondJson(response, 200, { ok: true })
  }
  const settings = {
    ...testSettings(dir),
    SVC_EGRESS_ALLOW: '127.0.0.1',
    SVC_LOG_LEVEL: 'silent',
    // Rounds that end holds and expired requests every 0.2 seconds.
    SVC_LEASE_MS: '2000',
    ...extraSettings,
  }
  const start = (more: Record<string, string> = {}) => {
    const env: Record<string, string> = { ...settings, ...more }
    const world = {
      ...createSystemWorld('silent'),
      passwordCost: CHEAP_PASSWORD_COST,
      env: (name: string) => env[name],
    }
    return startApp(loadConfig(env, dir), world)
  }
  // The port may have been taken since.
  let app = await start({ SVC_PORT: freedPort }).catch(() => start())
  freedPort = '0'
  const config = { url: `${upstream.url}/post` }
  await callApi(app.url, FOUNDER_KEY, 'POST', '/v1/connections', { kind: 'webhook', name: 'post', config })
  return {
    app,
    url: app.url,
    received: upstream.received,
    call: (method: string, path: string, body?: unknown) => callApi(app.url, FOUNDER_KEY, method, path, body),
    wedgesDir: join(dir, 'wedges'),
    async restart(more: Record<string, string>, whileStopped?: () => Promise<void>) {
      await app.stop()
      try {
        await whileStopped?.()
      } finally {
        app = await start({ SVC_PORT: new URL(app.url).port, ...more })
      }
      return app
    },
    async stop() {
      await app.stop()
      freedPort = new URL(app.url).port
      await upstream.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function newPage({
  signedIn = true,
  token = FOUNDER_KEY,
  expected = EXPECTED_STATUSES,
  viewport = DEFAULT_VIEWPORT,
  // Without animations, which would be drawn in software for as long as a test waits.
  reducedMotion = 'reduce',
  colorScheme = 'light',
  permissions = [],
  movesClock = false,
}: PageOptions = {}): Promise<Page> {
  const context = (movesClock ? null : idleContexts.pop()) ?? (await newContext())
  if (movesClock) await context.clock.install()
  if (permissions.length > 0) await context.grantPermissions(permissions)
  const page = await context.newPage()
  // Only ends a test that hangs.
  page.setDefaultTimeout(180_000)
  await page.setViewportSize(viewport)
  await page.emulateMedia({ reducedMotion, colorScheme })
  if (signedIn) {
    // Only at the first load, so that a sign-out lasts.
    const script = `sessionStorage.getItem('test') || (sessionStorage.setItem('svc.token', '${token}'), sessionStorage.setItem('test', '1'))`
    await page.addInitScript(script)
  }
  const pageErrors: string[] = []
  page.on('console', (message) => message.type() === 'error' && pageErrors.push(message.text()))
  page.on('pageerror', (error) => pageErrors.push(String(error)))
  onTestFinished(async () => {
    // A context keeps its clock.
    await (movesClock ? context.close() : releaseContext(context))
    expect(pageErrors.filter((error) => !expected.test(error))).toEqual([])
  })
  return page
}

/** Browser contexts that no test uses. In a used one a page takes half of the CPU time, because its process has run before. */
const idleContexts: BrowserContext[] = []

/** Its first page stays blank and keeps the process alive between two tests. */
async function newContext(): Promise<BrowserContext> {
  browser ??= launch()
  const context = await (await browser).newContext({ locale: 'en-GB' })
  await context.newPage()
  return context
}

/** Closes the pages and deletes what they stored, so that the next test finds the context as new. */
async function releaseContext(context: BrowserContext): Promise<void> {
  const [blank, ...pages] = context.pages()
  await Promise.all(pages.map((page) => page.close()))
  if (!blank) return
  await context.unrouteAll()
  await context.clearPermissions()
  const session = await context.newCDPSession(blank)
  await session.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' })
  await session.detach()
  idleContexts.push(context)
}

const DEFAULT_VIEWPORT = { width: 1440, height: 900 }

/** Browsers log every error response; the pages show these to the user. */
const EXPECTED_STATUSES = /the server responded with a status of 40[139]/

const axe = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8')

/** Waits for the event that gives a new task this status. */
export async function waitForStatus(
  { url }: Pick<Console, 'url'>,
  taskId: string,
  status: 'awaiting_approval' | 'succeeded' | 'rejected' | 'expired',
  token = FOUNDER_KEY,
): Promise<void> {
  const isLast = ({ event }: { event: string }) =>
    event === 'task.finished' || (event === 'approval.requested' && status === 'awaiting_approval')
  const last = (await readEventStream(`${url}/v1/tasks/${taskId}/events`, token, 0, isLast)).at(-1)
  expect(last?.event === 'approval.requested' ? 'awaiting_approval' : last?.data.data.status).toBe(status)
}

const ALL_RULES = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'],
  rules: { 'label-content-name-mismatch': { enabled: true } },
}
const CONTRAST_RULES = { runOnly: { type: 'rule', values: ['color-contrast'] } }

/** The accessibility rules of axe that the page violates. */
export async function accessibilityViolations(page: Page, rules: object = ALL_RULES): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe)
  const options = JSON.stringify({ ...rules, resultTypes: ['violations'] })
  const found: { id: string; nodes: { html: string; failureSummary: string }[] }[] = await page.evaluate(
    `axe.run(document, ${options}).then((r) => r.violations)`,
  )
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

/** The rules that a page in the light theme violates in both themes. A theme changes only colours, so the dark one only needs the rule on contrast. */
export async function violationsInBothThemes(page: Page): Promise<string[]> {
  const inLight = await accessibilityViolations(page)
  await switchTheme(page, 'dark')
  const inDark = await accessibilityViolations(page, CONTRAST_RULES)
  await switchTheme(page, 'light')
  return [...inLight, ...inDark.map((violation) => `dark theme: ${violation}`)]
}

/** An element that inherits a colour in transition begins one of its own later. A page behind another draws no frames. */
async function switchTheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  const countTransitions = 'document.getAnimations().filter((one) => one instanceof CSSTransition).length'
  const checks: number[] = []
  const isStill = async () => {
    checks.push(Number(await page.evaluate(countTransitions)))
    return checks.length > 2 && checks.slice(-2).every((count) => count === 0)
  }
  await expect.poll(isStill).toBe(true)
}

export const HAS_HORIZONTAL_SCROLL = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
/** The cumulative layout shift since the page was opened; browsers rate less than 0.1 as good. */
export const LAYOUT_SHIFT = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => (sum += entry.value)))
    .observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve(sum), 100)
})`
