import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pino from 'pino'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type App, startApp } from '../src/server/app.ts'
import { createIdGenerator } from '../src/platform/base/ids.ts'
import { readSetting } from '../src/platform/contract/settings.ts'
import { loadConfig } from '../src/platform/config/config.ts'
import { createRandomPool } from '../src/platform/ctx/system-world.ts'
import { TestClock } from './test-clock.ts'
import { createMigratedDatabase, createMigratedFolder, releaseMigratedDatabase, type StoreKind } from './stores.ts'
import { type ApiResponse, callApi, type CallOptions, type StreamedEvent, readEventStream } from './http.ts'

export { anyStore, eachStore } from './stores.ts'

/** The fixed founder key of every test app. */
export const FOUNDER_KEY = 'svc_key_test_0123456789abcdefghijklmnop'

/** Hundreds of tests sign up. */
export const CHEAP_PASSWORD_COST = { N: 1024, r: 8, p: 1 }

export interface TestAppOptions {
  store: StoreKind
  /** Files below the wedges folder, such as `{'echo/wedge.json': {…}, 'echo/skills/how.md': '…'}`. Default: one wedge `echo`. */
  wedges?: Record<string, unknown>
  /** More settings, such as `SVC_SANDBOX: 'bwrap'`; the default is the fast `process` driver without warm cells. */
  env?: Record<string, string>
}

/** A running service that is called over HTTP and whose clock moves only by `clock.advance`. */
export interface TestApp {
  app: App
  /** The founder key that the first start created; null if a fixed one is set. */
  firstKey: string | null
  ctx: App['ctx']
  url: string
  key: string
  clock: TestClock
  dir: string
  /** The log of the service as JSON lines. */
  logged: string[]
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<ApiResponse>
  /** Creates a task, by default of the wedge `echo`. Throws if the response is not 201. */
  createTask(body?: Record<string, unknown>): Promise<{ id: string } & Record<string, unknown>>
  /** The events of a task until its stream ends, or until `until` returns true. */
  events(
    taskId: string,
    options?: { after?: number; until?: (event: StreamedEvent) => boolean; path?: string; key?: string },
  ): Promise<StreamedEvent[]>
  /** Waits for the end of the task and returns it. */
  finished(taskId: string): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

/** A wedge whose output is its input; the task type `checked` has an output schema. */
export const ECHO_WEDGE = {
  'echo/wedge.json': {
    wedge: 'echo',
    title: 'Echo',
    task_types: {
      say: { description: 'Says the input back.' },
      checked: { output_schema: { type: 'object', required: ['said'], properties: { said: { type: 'string' } } } },
    },
  },
  'echo/rehearsals/say.json': [{ output: { said: '{{input}}' } }],
  'echo/rehearsals/checked.json': [{ output: { said: '{{input.text}}' } }],
}

/** An app that is stopped and removed at the end of the test. */
export async function testApp(options: TestAppOptions): Promise<TestApp> {
  const app = await startTestApp(options)
  onTestFinished(() => app.stop())
  return app
}

/** One app for all tests of a describe block. */
export function sharedApp(options: TestAppOptions): () => TestApp {
  let app: TestApp
  beforeAll(async () => {
    app = await startTestApp(options)
  })
  afterAll(() => app?.stop())
  return () => app
}

export async function startTestApp({ store, wedges = ECHO_WEDGE, env = {} }: TestAppOptions): Promise<TestApp> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-'))
  writeFiles(join(dir, 'wedges'), wedges)
  mkdirSync(join(dir, 'blueprints'))
  const database = store === 'postgres' ? await createMigratedDatabase() : null
  if (!database) await createMigratedFolder(join(dir, 'data'))
  const settings = {
    ...testSettings(dir),
    SVC_SQLITE_SYNC: 'normal',
    ...(database && { DATABASE_URL: database }),
    ...env,
  }
  const clock = new TestClock()
  const logged: string[] = []
  let firstKey: string | null = null
  const app = await startApp(loadConfig(settings, dir), testWorld(clock, settings, logged), (key) => (firstKey = key))
  let stopped: Promise<void> | null = null
  return {
    app,
    firstKey,
    ctx: app.ctx,
    url: app.url,
    key: FOUNDER_KEY,
    clock,
    dir,
    logged,
    call: (method, path, body, options) => callApi(app.url, FOUNDER_KEY, method, path, body, options),
    async createTask(body = {}) {
      const { status, body: task } = await callApi(app.url, FOUNDER_KEY, 'POST', '/v1/tasks', {
        wedge: 'echo',
        task_type: 'say',
        ...body,
      })
      if (status !== 201) throw new Error(`task not created: ${status} ${JSON.stringify(task)}`)
      return task
    },
    events: (taskId, { after = 0, until, path = `/v1/tasks/${taskId}/events`, key = FOUNDER_KEY } = {}) =>
      readEventStream(`${app.url}${path}`, key, after, until),
    async finished(taskId) {
      await readEventStream(`${app.url}/v1/tasks/${taskId}/events`, FOUNDER_KEY, 0)
      return (await callApi(app.url, FOUNDER_KEY, 'GET', `/v1/tasks/${taskId}`)).body
    },
    stop() {
      stopped ??= stopTestApp(app, clock, dir, database)
      return stopped
    },
  }
}

/** The settings of a test app with all its data below one folder. */
export const testSettings = (dir: string): Record<string, string> => ({
  SVC_PORT: '0',
  SVC_DATA_DIR: join(dir, 'data'),
  SVC_WEDGES_DIR: join(dir, 'wedges'),
  SVC_BLUEPRINTS_DIR: join(dir, 'blueprints'),
  SVC_SANDBOX: 'process',
  SVC_POOL: '0',
  SVC_DRAIN_DELAY_S: '0',
  SVC_DATABASE_WAIT_S: '0',
  SVC_FOUNDER_API_KEY: FOUNDER_KEY,
})

async function stopTestApp(app: App, clock: TestClock, dir: string, database: string | null): Promise<void> {
  const stopping = app.stop()
  // The drain waits by the clock of the app, so the clock must advance.
  const advancing = setInterval(() => clock.jump(5_000), 20)
  await stopping.finally(() => clearInterval(advancing))
  rmSync(dir, { recursive: true, force: true })
  if (database) await releaseMigratedDatabase(database)
}

function testWorld(clock: TestClock, env: Record<string, string | undefined>, logged: string[]) {
  const random = createRandomPool()
  return {
    clock,
    random,
    newId: createIdGenerator(() => clock.now(), random),
    passwordCost: CHEAP_PASSWORD_COST,
    log: pino({ level: 'debug', base: null }, { write: (line: string) => void logged.push(line) }),
    env: (name: string) => readSetting(env, name),
  }
}

export function writeFiles(root: string, files: Record<string, unknown>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
}
