import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { KEY, writeFiles } from '../app.ts'
import { type Answered, call, type StreamedEvent, stream } from '../http.ts'
import { UNLIMITED, WEDGES } from '../tasks/scripted.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/svc.mjs', import.meta.url))

/** A folder for a service of its own, that outlives its processes. */
export function makePlace(): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-fault-'))
  writeFiles(join(dir, 'wedges'), WEDGES)
  mkdirSync(join(dir, 'blueprints'))
  return dir
}

export const removePlace = (dir: string) => rmSync(dir, { recursive: true, force: true })

/** The program as it is shipped, in a process of its own that a test may kill. */
export class Service {
  readonly child: ChildProcess
  readonly url: string
  readonly exited: Promise<unknown>

  private constructor(child: ChildProcess, url: string, exited: Promise<unknown>) {
    this.child = child
    this.url = url
    this.exited = exited
  }

  static async start(dir: string, env: Record<string, string> = {}): Promise<Service> {
    const child = spawn(process.execPath, [PROGRAM, 'serve'], {
      cwd: dir,
      env: { PATH: process.env['PATH'] ?? '', ...SETTINGS, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(child, 'exit')
    return new Service(child, await addressOf(child), exited)
  }

  call(method: string, path: string, body?: unknown): Promise<Answered> {
    return call(this.url, KEY, method, path, body)
  }

  /** The log of a task, read until its stream ends. */
  events(taskId: string, until?: (event: StreamedEvent) => boolean): Promise<StreamedEvent[]> {
    return stream(`${this.url}/v1/tasks/${taskId}/events`, KEY, 0, until)
  }

  /** The power goes out. */
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
  SVC_FOUNDER_API_KEY: KEY,
  ...UNLIMITED,
}

function addressOf(child: ChildProcess): Promise<string> {
  let said = ''
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const address = /listens on (\S+)\n/.exec(said)?.[1]
      if (address) resolve(address)
    })
    child.once('exit', () => reject(new Error(`the service did not start: ${said}`)))
  })
}
