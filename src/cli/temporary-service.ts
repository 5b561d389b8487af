import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Shell } from './command.ts'
import { EXIT, failed } from './failure.ts'
import { type Service, serviceAt } from './service.ts'

/** The secret of every connection in a temporary service. */
export const REHEARSAL_SECRET = 'REHEARSAL_SECRET'

/** A service of its own for a while: own store, free port, no model, no network but this machine; gone afterwards. */
export async function withTemporaryService<T>(
  shell: Shell,
  wedgesDir: string,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-rehearsal-'))
  mkdirSync(join(folder, 'blueprints'))
  const key = `svc_key_${randomBytes(24).toString('base64url')}`
  const child = spawn(process.execPath, [...process.execArgv, shell.program, 'serve'], {
    cwd: folder,
    env: { ...outsideOf(shell.env), ...settings(folder, wedgesDir, key), SVC_SANDBOX: shell.env.SVC_SANDBOX || 'auto' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const end = async () => {
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  const interrupted = new AbortController()
  const leave = () => {
    interrupted.abort()
    void end().then(() => process.exit(EXIT.interrupted))
  }
  for (const signal of SIGNALS) process.once(signal, leave)
  try {
    return await work(serviceAt(await addressOf(child), key))
  } finally {
    for (const signal of SIGNALS) process.off(signal, leave)
    await end()
    // What failed because the service was ended is not worth a word.
    if (interrupted.signal.aborted) process.exit(EXIT.interrupted)
  }
}

/** Whoever ends the rehearsal ends its service, which would stay otherwise. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The environment without what would make it another service than the wedge alone, or let it reach a model. */
function outsideOf(env: Shell['env']): Shell['env'] {
  const ours = /^(SVC_|BROKER_|ANTHROPIC_|OPENAI_|OTEL_|PG|DATABASE_URL)/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)))
}

const settings = (folder: string, wedgesDir: string, key: string) => ({
  SVC_PORT: '0',
  SVC_HOST: '127.0.0.1',
  SVC_DATA_DIR: join(folder, 'data'),
  SVC_WEDGES_DIR: wedgesDir,
  SVC_BLUEPRINTS_DIR: join(folder, 'blueprints'),
  SVC_POOL: '0',
  SVC_SQLITE_SYNC: 'normal',
  SVC_FOUNDER_API_KEY: key,
  SVC_SECRET_KEY: randomBytes(32).toString('base64'),
  SVC_EGRESS_ALLOW: '127.0.0.1',
  SVC_TASK_RATE_PER_MIN: '1000000',
  SVC_LOG_LEVEL: 'warn',
  [REHEARSAL_SECRET]: 'rehearsal',
})

const KEPT = 4_000

function addressOf(child: ChildProcess): Promise<string> {
  let said = ''
  let complained = ''
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (complained = (complained + text).slice(-KEPT)))
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-KEPT)
      const address = /listens on (\S+)\n/.exec(said)?.[1]
      if (address) resolve(address)
    })
    child.once('error', reject)
    child.once('exit', () => reject(failed(`the temporary service did not start: ${complained.trim() || said.trim()}`)))
  })
}
