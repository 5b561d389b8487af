import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { FOUNDER_KEY } from '../../app.ts'
import { callApi, type CallOptions } from '../../http.ts'
import { GATED_ENV } from '../decisions/gated-app.ts'

const PROGRAM = fileURLToPath(new URL('../../../dist/svc.mjs', import.meta.url))

/** The built service in a process of its own, which a test can kill. */
export interface Served {
  child: ChildProcess
  url: string
  call(method: string, path: string, body?: unknown, options?: CallOptions): ReturnType<typeof callApi>
}

export async function serve(dir: string, env: Record<string, string> = {}): Promise<Served> {
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    cwd: dir,
    env: {
      PATH: process.env['PATH'] ?? '',
      SVC_PORT: '0',
      SVC_SANDBOX: 'process',
      SVC_POOL: '0',
      SVC_FOUNDER_API_KEY: FOUNDER_KEY,
      SVC_LOG_LEVEL: 'silent',
      ...GATED_ENV,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listens on (\S+)/.exec(line)?.[1]
    if (url) return { child, url, call: (...request) => callApi(url, FOUNDER_KEY, ...request) }
  }
  throw new Error('the service did not start')
}
