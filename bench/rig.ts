import { type ChildProcess, fork, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabaseOn, createPostgres, type PostgresServer, removePostgres } from '../test/postgres.ts'
import type { BareMode } from './bare/runs.ts'
import type { Target } from './load/statistics.ts'
import type { Work } from './load/main.ts'
import { formatNumber } from './results.ts'

const KEY = 'svc_key_bench_0123456789abcdefghijklmnop'

/** A server under measurement. */
export interface Server extends Target {
  pid: number
  /** From the start of the process to the first answer that all is well. */
  bootMs: number
}

/** Where the bundles of this run lie, and where the service does. */
export interface Places {
  root: string
  programs: string
}

/** Everything one part of the benchmark starts; `close` ends it and removes its folder, whatever happened. */
export class Rig {
  readonly places: Places
  readonly dir: string
  readonly #started: ChildProcess[] = []
  #load: ChildProcess | null = null
  #postgres: Promise<PostgresServer> | null = null

  constructor(places: Places) {
    this.places = places
    this.dir = mkdtempSync(join(tmpdir(), 'svc-bench-'))
    // Cells run as another user where the service is root.
    chmodSync(this.dir, 0o755)
  }

  /** The service as it is shipped, on SQLite with every commit flushed. */
  service(env: Record<string, string> = {}, dataDir = mkdtempSync(join(this.dir, 'data-'))): Promise<Server> {
    const settings = {
      SVC_DATA_DIR: dataDir,
      SVC_WEDGES_DIR: join(this.places.root, 'bench/wedges'),
      SVC_TASK_RATE_PER_MIN: '100000000',
      SVC_FOUNDER_API_KEY: KEY,
      SVC_LOG_LEVEL: 'warn',
      SVC_APPROVAL_TTL_S: '3600',
      ...env,
    }
    const flags = process.env['BENCH_NODE_FLAGS']?.split(' ') ?? []
    const program = [...flags, join(this.places.root, 'dist/svc.mjs'), 'serve']
    return this.#serve(program, (port) => ({ ...settings, SVC_PORT: String(port) }))
  }

  /** An empty database on a PostgreSQL of our own that forces every commit to the disk, as one in earnest does. */
  async database(): Promise<string> {
    this.#postgres ??= createPostgres(DURABLE)
    return createDatabaseOn((await this.#postgres).url)
  }

  /** What the server behind `database` has used of the processor, in ms; 0 while there is none. */
  async databaseCpu(): Promise<number> {
    const pid = (await this.#postgres)?.child?.pid
    return pid === undefined ? 0 : cpuOf(pid)
  }

  /** On SQLite, or on the database that is named. */
  bare(mode: BareMode = 'none', command: string[] = [], database = ''): Promise<Server> {
    const words = JSON.stringify(command)
    const settings = { BARE_DIR: this.dir, BARE_MODE: mode, BARE_COMMAND: words, BARE_DATABASE: database }
    return this.#serve([this.program('bare-server')], (port) => ({ ...settings, BARE_PORT: String(port) }))
  }

  program(name: string): string {
    return join(this.places.programs, `${name}.mjs`)
  }

  /** Lets the clients do something and answers with what they measured. */
  load<Name extends keyof Work>(
    name: Name,
    { port, key }: Target,
    options: Parameters<Work[Name]>[1],
  ): ReturnType<Work[Name]> {
    this.#load ??= this.#keep(fork(this.program('load'), { stdio: 'inherit', execArgv: [] }))
    const load = this.#load
    const answer = new Promise((resolve, reject) => {
      load.once('message', ({ result, error }: { result?: unknown; error?: string }) => {
        if (error === undefined) resolve(result)
        else reject(new Error(error))
      })
      load.send({ name, target: { port, key }, options })
    })
    return answer as ReturnType<Work[Name]>
  }

  async stop(server: Server): Promise<void> {
    const child = this.#started.find(({ pid }) => pid === server.pid)
    if (child) await end(child)
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.map(end))
    // One that could not be started was told of already.
    const postgres = await this.#postgres?.catch(() => null)
    if (postgres) await removePostgres(postgres)
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 })
  }

  async #serve(program: string[], env: (port: number) => Record<string, string>): Promise<Server> {
    const port = await freePort()
    const start = performance.now()
    const base = { PATH: process.env['PATH'] ?? '', HOME: this.dir, TMPDIR: this.dir }
    const child = this.#keep(
      spawn(process.execPath, program, {
        cwd: this.dir,
        env: { ...base, ...env(port) },
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    )
    await healthy(port, child)
    return { port, key: KEY, pid: child.pid ?? 0, bootMs: performance.now() - start }
  }

  #keep(child: ChildProcess): ChildProcess {
    this.#started.push(child)
    return child
  }
}

const DURABLE = { fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB', max_wal_size: '4GB' }

async function healthy(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 5000; tries++) {
    if (child.exitCode !== null) throw new Error(`a server ended with code ${child.exitCode} before it answered`)
    const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null)
    if (answer?.ok) return void (await answer.text())
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  throw new Error('a server did not answer')
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

const PATIENCE_MS = 1500

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  await ended
  clearTimeout(timer)
}

/** Adds up what a server's processor did for so many operations. */
export class Effort {
  #ms = 0
  #done = 0

  async spend<T>(server: Server, work: () => Promise<T>, done: (result: T) => number): Promise<T> {
    const before = cpuOf(server.pid)
    const result = await work()
    this.#ms += cpuOf(server.pid) - before
    this.#done += done(result)
    return result
  }

  /** Microseconds of processor time for one. */
  get each(): number {
    return (this.#ms * 1000) / this.#done
  }
}

/** A note that compares the efforts of both; it holds on a busy machine too. */
export function effortNote(service: Effort, bare: Effort): string {
  const ratio = (service.each / bare.each).toFixed(1)
  return `processor ${formatNumber(service.each)} µs each, bare ${formatNumber(bare.each)} (${ratio} ×)`
}

/** Resident memory of a process in MB, and of all below it. */
export function memoryOf(pid: number): { own: number; all: number } {
  const own = residentMb(pid)
  const below = childrenOf(pid).reduce((sum, child) => sum + memoryOf(child).all, 0)
  return { own, all: own + below }
}

/** Processor time that a process and all below it have used, in ms. What others do on the machine hardly shows in it. */
export function cpuOf(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), ownCpu(pid))
}

const TICK_MS = 10

function ownCpu(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    // Its own time and that of children that have ended.
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
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
    .map(Number)
}

function parentOf(pid: string): number {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) . /s, '')
        .split(' ')[0],
    )
  } catch {
    return -1
  }
}
