import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newToken } from '../../base/tokens.ts'
import type { CommandContext } from '../shell/command.ts'
import { EXIT_CODE, commandFailed } from '../shell/failure.ts'
import { type ServiceClient, createServiceClient } from '../shell/service-client.ts'

/** The secret of every connection in a temporary service. */
export const REHEARSAL_SECRET = 'REHEARSAL_SECRET'

/** A service of its own for a while: own store, free port, no model, no network but this machine; gone afterwards. */
export async function withTemporaryService<T>(
  shell: CommandContext,
  wedgesDir: string,
  work: (service: ServiceClient) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-rehearsal-'))
  mkdirSync(join(folder, 'blueprints'))
  const key = newToken('founderKey', randomBytes)
  const child = spawn(process.execPath, [...process.execArgv, shell.programPath, 'serve'], {
    cwd: folder,
    env: {
      ...withoutServiceSettings(shell.env),
      ...temporarySettings(folder, wedgesDir, key),
      SVC_SANDBOX: shell.env.SVC_SANDBOX || 'auto',
    },
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
    void end().then(() => process.exit(EXIT_CODE.interrupted))
  }
  for (const signal of END_SIGNALS) process.once(signal, leave)
  try {
    return await work(createServiceClient(await readListenUrl(child), key))
  } finally {
    for (const signal of END_SIGNALS) process.off(signal, leave)
    await end()
    // What failed because the service was ended is not worth a word.
    if (interrupted.signal.aborted) process.exit(EXIT_CODE.interrupted)
  }
}

/** Whoever ends the rehearsal ends its service, which would stay otherwise. */
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The environment without what would make it another service than the wedge alone, or let it reach a model. */
function withoutServiceSettings(env: CommandContext['env']): CommandContext['env'] {
  const ours = /^(SVC_|BROKER_|ANTHROPIC_|OPENAI_|OTEL_|PG|DATABASE_URL)/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)))
}

const temporarySettings = (folder: string, wedgesDir: string, key: string) => ({
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

const MAX_OUTPUT_CHARS = 4_000

function readListenUrl(child: ChildProcess): Promise<string> {
  let said = ''
  let complained = ''
  return new Promise((resolve, reject) => {
    child.stderr
      ?.setEncoding('utf8')
      .on('data', (text: string) => (complained = (complained + text).slice(-MAX_OUTPUT_CHARS)))
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-MAX_OUTPUT_CHARS)
      const address = /listens on (\S+)\n/.exec(said)?.[1]
      if (address) resolve(address)
    })
    child.once('error', reject)
    child.once('exit', () =>
      reject(commandFailed(`the temporary service did not start: ${complained.trim() || said.trim()}`)),
    )
  })
}
