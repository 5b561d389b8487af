import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newToken } from '../../../platform/base/tokens.ts'
import type { CommandContext } from '../shell/command.ts'
import { EXIT_CODE, commandFailed } from '../shell/failure.ts'
import { type ServiceClient, createServiceClient } from '../shell/service-client.ts'

/** The environment variable with the secret of every connection in a temporary service. */
export const REHEARSAL_SECRET = 'REHEARSAL_SECRET'

/** Starts a service with its own store, a free port, no model and only local connections, and removes it afterwards. */
export async function withTemporaryService<T>(
  context: CommandContext,
  wedgesDir: string,
  work: (service: ServiceClient) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-rehearsal-'))
  mkdirSync(join(folder, 'blueprints'))
  const key = newToken('founderKey', randomBytes)
  const child = spawn(process.execPath, [...process.execArgv, context.programPath, 'serve'], {
    cwd: folder,
    env: {
      ...withoutServiceSettings(context.env),
      ...temporarySettings(folder, wedgesDir, key),
      SVC_SANDBOX: context.env.SVC_SANDBOX || 'auto',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  const interrupted = new AbortController()
  const onSignal = () => {
    interrupted.abort()
    void stop().then(() => process.exit(EXIT_CODE.interrupted))
  }
  for (const signal of END_SIGNALS) process.once(signal, onSignal)
  try {
    return await work(createServiceClient(await readListenUrl(child), key))
  } finally {
    for (const signal of END_SIGNALS) process.off(signal, onSignal)
    await stop()
    // An error that was caused by the interruption is not reported.
    if (interrupted.signal.aborted) process.exit(EXIT_CODE.interrupted)
  }
}

/** These signals also stop the temporary service, which would otherwise keep running. */
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Removes the settings of the user's deployment, such as its store and its model. */
function withoutServiceSettings(env: CommandContext['env']): CommandContext['env'] {
  const isSetting = /^(SVC_|BROKER_|ANTHROPIC_|OPENAI_|OTEL_|PG|DATABASE_URL)/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSetting.test(name)))
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
  let stdout = ''
  let stderr = ''
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-MAX_OUTPUT_CHARS)))
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(-MAX_OUTPUT_CHARS)
      const url = /listens on (\S+)\n/.exec(stdout)?.[1]
      if (url) resolve(url)
    })
    child.once('error', reject)
    child.once('exit', () =>
      reject(commandFailed(`the temporary service did not start: ${stderr.trim() || stdout.trim()}`)),
    )
  })
}
