import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabaseOn, createPostgres, type PostgresServer, removePostgres } from '../test/postgres.ts'
import type { BareMode } from './bare/runs.ts'
import type { Target } from './load/statistics.ts'
import type { LoadKinds } from './load/main.ts'
import { formatNumber } from './results.ts'
import { threadTimes } from './thread-times.ts'

const KEY = 'svc_key_bench_0123456789abcdefghijklmnop'

/** A running server: the service or the baseline. */
export interface Server extends Target {
  pid: number
  /** From the start of the process to the first successful health check. */
  bootMs: number
}

/** The folders of the service and of the benchmark's own programs. */
export interface BenchFolders {
  root: string
  programs: string
}

/** Starts the processes that one part of the benchmark needs. `close` ends them and removes their folder. */
export class Rig {
  readonly folders: BenchFolders
  readonly dir: string
  /** The program of Node that runs the servers. */
  readonly node: string
  readonly #started: ChildProcess[] = []
  #load: ChildProcess | null = null
  #postgres: Promise<PostgresServer> | null = null
  #postgresPid: number | null = null

  constructor(folders: BenchFolders, node = process.execPath) {
    this.folders = folders
    this.node = node
    this.dir = mkdtempSync(join(tmpdir(), 'svc-bench-'))
    // Cells run as another user if the service runs as root.
    chmodSync(this.dir, 0o755)
  }

  /** The service as it is shipped, on SQLite with every commit flushed. */
  service(env: Record<string, string> = {}, dataDir = mkdtempSync(join(this.dir, 'data-'))): Promise<Server> {
    const settings = {
      SVC_DATA_DIR: dataDir,
      SVC_WEDGES_DIR: join(this.folders.root, 'bench/wedges'),
      SVC_BLUEPRINTS_DIR: join(this.folders.root, 'blueprints'),
      SVC_TASK_RATE_PER_MIN: '100000000',
      SVC_FOUNDER_API_KEY: KEY,
      SVC_LOG_LEVEL: 'warn',
      SVC_APPROVAL_TTL_S: '3600',
      ...env,
    }
    const flags = process.env['BENCH_NODE_FLAGS']?.split(' ') ?? []
    const program = [...flags, '--import', this.program('loop-probe'), join(this.folders.root, 'dist/svc.mjs'), 'serve']
    return this.#serve(program, (port) => ({ ...settings, SVC_PORT: String(port) }))
  }

  /** An empty database on a PostgreSQL server that flushes every commit to the disk, as in production. */
  async database(): Promise<string> {
    this.#postgres ??= createPostgres(DURABLE_SETTINGS)
    const { url, child } = await this.#postgres
    this.#postgresPid = child?.pid ?? null
    return createDatabaseOn(url)
  }

  /** The processor time of the PostgreSQL server in milliseconds; 0 while there is none. */
  async databaseCpu(): Promise<number> {
    const pid = (await this.#postgres)?.child?.pid
    return pid === undefined ? 0 : cpuOf(pid)
  }

  /** The processor time of the service and the database, and how long they and the client waited for a processor. */
  requestTimes(server: Server): { workedMs: number; waitedMs: number } {
    const database = this.#postgresPid === null ? [] : childrenOf(this.#postgresPid)
    const servers = [server.pid, ...database].map(threadTimes)
    const waited = [threadTimes(process.pid), ...servers].map(({ waitedMs }) => waitedMs)
    const worked = servers.map(({ ranMs }) => ranMs)
    const sum = (numbers: number[]) => numbers.reduce((total, n) => total + n, 0)
    return { workedMs: sum(worked), waitedMs: sum(waited) }
  }

  /** The baseline server, on SQLite or on the given database. */
  bare(mode: BareMode = 'none', command: string[] = [], database = ''): Promise<Server> {
    const settings = {
      BARE_DIR: this.dir,
      BARE_MODE: mode,
      BARE_COMMAND: JSON.stringify(command),
      BARE_DATABASE: database,
    }
    return this.#serve([this.program('bare-server')], (port) => ({ ...settings, BARE_PORT: String(port) }))
  }

  program(name: string): string {
    return join(this.folders.programs, `${name}.mjs`)
  }

  /** Runs one kind of load in the client process and returns what it measured. */
  load<Name extends keyof LoadKinds>(
    name: Name,
    { port, key }: Target,
    options: Parameters<LoadKinds[Name]>[1],
  ): ReturnType<LoadKinds[Name]> {
    this.#load ??= this.#keep(fork(this.program('load'), { stdio: 'inherit', execArgv: [] }))
    const load = this.#load
    const measured = new Promise((resolve, reject) => {
      load.once('message', ({ result, error }: { result?: unknown; error?: string }) => {
        if (error === undefined) resolve(result)
        else reject(new Error(error))
      })
      load.send({ name, target: { port, key }, options })
    })
    return measured as ReturnType<LoadKinds[Name]>
  }

  /** The longest time in milliseconds in which the event loop of a service did nothing else, since the last call. */
  async longestDelay(server: Server): Promise<number> {
    const child = this.#started.find(({ pid }) => pid === server.pid)
    if (!child) throw new Error('the server is not running')
    const answer = once(child, 'message')
    child.send('delays')
    const [{ maxMs }] = (await answer) as [{ maxMs: number }]
    return maxMs
  }

  async stop(server: Server): Promise<void> {
    const child = this.#started.find(({ pid }) => pid === server.pid)
    if (child) await endProcess(child)
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.map(endProcess))
    // The error of a server that could not start has already been reported.
    const postgres = await this.#postgres?.catch(() => null)
    if (postgres) await removePostgres(postgres)
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 })
  }

  async #serve(program: string[], env: (port: number) => Record<string, string>): Promise<Server> {
    const port = await freePort()
    const start = performance.now()
    const base = { PATH: process.env['PATH'] ?? '', HOME: this.dir, TMPDIR: this.dir }
    const child = this.#keep(
      spawn(this.node, program, {
        cwd: this.dir,
        env: { ...base, ...env(port) },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }),
    )
    await waitUntilHealthy(port, child)
    return { port, key: KEY, pid: child.pid ?? 0, bootMs: performance.now() - start }
  }

  #keep(child: ChildProcess): ChildProcess {
    this.#started.push(child)
    return child
  }
}

const DURABLE_SETTINGS = { fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB', max_wal_size: '4GB' }

async function waitUntilHealthy(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 5000; attempt++) {
    if (child.exitCode !== null) throw new Error(`a server ended with code ${child.exitCode} before it was healthy`)
    const response = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null)
    if (response?.ok) return void (await response.text())
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  throw new Error('a server did not become healthy within 5,000 health checks')
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

const STOP_TIMEOUT_MS = 1500

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}

/** Sums up the processor time of a server over many operations. */
export class CpuCost {
  #ms = 0
  #operations = 0

  /** Runs the work and adds the processor time that the server needed for it. */
  async measure<T>(server: Server, work: () => Promise<T>, countOperations: (result: T) => number): Promise<T> {
    const before = cpuOf(server.pid)
    const result = await work()
    this.#ms += cpuOf(server.pid) - before
    this.#operations += countOperations(result)
    return result
  }

  /** Processor time for one operation in microseconds. */
  get perOperation(): number {
    return (this.#ms * 1000) / this.#operations
  }
}

/** Compares the processor time of both sides, which is reliable even on a busy machine. */
export function cpuNote(service: CpuCost, bare: CpuCost): string {
  const ratio = (service.perOperation / bare.perOperation).toFixed(1)
  return `processor ${formatNumber(service.perOperation)} µs each, bare ${formatNumber(bare.perOperation)} (${ratio} ×)`
}

/** Resident memory of a process in MB, alone and with its descendants. */
export function memoryOf(pid: number): { own: number; all: number } {
  const own = residentMb(pid)
  const ofChildren = childrenOf(pid).reduce((sum, child) => sum + memoryOf(child).all, 0)
  return { own, all: own + ofChildren }
}

/** Processor time of a process and its descendants in milliseconds. */
export function cpuOf(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), ownCpu(pid))
}

const TICK_MS = 10

function ownCpu(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    // User and system time of the process and of its ended children.
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS
  } catch {
    return 0
  }
}

function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const children = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
    return children.flatMap((list) => list.split(' ').filter(Boolean)).map(Number)
  } catch {
    // The process has ended.
    return []
  }
}
