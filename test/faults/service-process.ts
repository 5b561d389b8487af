import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { openPostgresStore } from '../../src/platform/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/platform/store/sqlite/sqlite-store.ts'
import type { Db } from '../../src/platform/store/store.ts'
import { FOUNDER_KEY, writeFiles } from '../app.ts'
import { type ApiResponse, callApi, type CallOptions, type StreamedEvent, readEventStream } from '../http.ts'
import { createDatabase, dropDatabase } from '../postgres.ts'
import type { StoreKind } from '../stores.ts'
import { NO_RATE_LIMIT, DESK_WEDGES } from '../work/tasks/scripted-agent.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/svc.mjs', import.meta.url))

/** Creates a folder with wedges that service processes can share. */
export function createDeploymentFolder(wedges: Record<string, unknown> = DESK_WEDGES): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-fault-'))
  writeFiles(join(dir, 'wedges'), wedges)
  mkdirSync(join(dir, 'blueprints'))
  return dir
}

export const removeDeploymentFolder = (dir: string) => rmSync(dir, { recursive: true, force: true })

const SHORT_LEASE_MS = 3_000

/** For tests that wait until the lease of a dead replica expires: their services notice it in less time than the default. */
export const SHORT_LEASE = { SVC_LEASE_MS: String(SHORT_LEASE_MS) }
/** A little longer than the lease. */
export const PAST_LEASE_MS = SHORT_LEASE_MS + 1_000

/** A folder and a store in which a test starts service processes. All are removed when the test ends. */
export interface Deployment {
  dir: string
  /** Null with SQLite. */
  database: string | null
  start(env?: Record<string, string>, wrapper?: string[]): Promise<ServiceProcess>
  /** Opens the database directly, without the service. */
  openRows(): Promise<Db>
}

export async function createDeployment(
  store: StoreKind,
  { wedges = DESK_WEDGES, env = {} }: { wedges?: Record<string, unknown>; env?: Record<string, string> } = {},
): Promise<Deployment> {
  const dir = createDeploymentFolder(wedges)
  onTestFinished(() => removeDeploymentFolder(dir))
  const database = store === 'postgres' ? await createDatabase() : null
  if (database) onTestFinished(() => dropDatabase(database))
  return {
    dir,
    database,
    async start(extraEnv = {}, wrapper = []) {
      const service = await ServiceProcess.start(
        dir,
        { ...env, ...(database && { DATABASE_URL: database }), ...extraEnv },
        wrapper,
      )
      onTestFinished(() => service.kill())
      return service
    },
    async openRows() {
      const opened = database
        ? await openPostgresStore(database, () => {})
        : await openSqliteStore(join(dir, 'data'), 'normal')
      onTestFinished(() => opened.close())
      return opened.db
    },
  }
}

/** The program as it is shipped, in a process of its own that a test may kill. */
export class ServiceProcess {
  readonly child: ChildProcess
  readonly url: string
  readonly exited: Promise<unknown>

  private constructor(child: ChildProcess, url: string, exited: Promise<unknown>) {
    this.child = child
    this.url = url
    this.exited = exited
  }

  /** `wrapper` is a command that starts the service, such as a tracer. */
  static async start(dir: string, env: Record<string, string> = {}, wrapper: string[] = []): Promise<ServiceProcess> {
    const [program, ...args] = [...wrapper, process.execPath, PROGRAM, 'serve']
    const child = spawn(program, args, {
      cwd: dir,
      env: { PATH: process.env['PATH'] ?? '', ...SETTINGS, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(child, 'exit')
    return new ServiceProcess(child, await readAddress(child), exited)
  }

  call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<ApiResponse> {
    return callApi(this.url, FOUNDER_KEY, method, path, body, options)
  }

  /** The log of a task, read until its stream ends. */
  events(taskId: string, until?: (event: StreamedEvent) => boolean): Promise<StreamedEvent[]> {
    return readEventStream(`${this.url}/v1/tasks/${taskId}/events`, FOUNDER_KEY, 0, until)
  }

  /** Kills the process with SIGKILL, as a power failure would. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.exited
  }

  async terminate(): Promise<number | null> {
    this.child.kill('SIGTERM')
    await this.exited
    return this.child.exitCode
  }
}

const SETTINGS = {
  SVC_PORT: '0',
  SVC_DATA_DIR: 'data',
  SVC_SANDBOX: 'process',
  SVC_POOL: '0',
  SVC_DRAIN_DELAY_S: '0',
  SVC_DATABASE_WAIT_S: '0',
  SVC_FOUNDER_API_KEY: FOUNDER_KEY,
  ...NO_RATE_LIMIT,
}

function readAddress(child: ChildProcess): Promise<string> {
  let output = ''
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const address = /listens on (\S+)\n/.exec(output)?.[1]
      if (address) resolve(address)
    })
    child.once('exit', () => reject(new Error(`the service did not start: ${output}`)))
  })
}
