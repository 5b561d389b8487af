import { fileURLToPath } from 'node:url'
import { errorMessage } from './base/error-message.ts'
import { runCommandLine } from './cli/cli.ts'
import { EXIT_CODE, commandFailed } from './cli/shell/failure.ts'
import { describeUnknownSettings } from './cli/doctor/unknown-settings.ts'
import { type Config, loadConfig } from './config/config.ts'
import type { Ctx } from './ctx/ctx.ts'

// The server's code is loaded only by the commands that need it: the others answer at once.

/** Starts one replica and stays until it is told to stop. */
async function serve(svc: string): Promise<void> {
  const [{ startApp }, { createSystemWorld: systemWorld }] = await Promise.all([
    import('./app.ts'),
    import('./ctx/system-world.ts'),
  ])
  const config = loadConfig(process.env)
  const world = systemWorld(config.logLevel)
  for (const sentence of describeUnknownSettings(process.env)) world.log.warn(sentence)
  const release = config.databaseUrl ? () => {} : await lockDataFolder(config)
  const app = await startApp(config, world, printFounderKey).catch((error: unknown) => {
    throw addAdvice(config, error)
  })
  printLine(`Agent Work Service listens on ${app.url}`)
  printLine(
    `store: ${app.ctx.store.kind === 'sqlite' ? `SQLite in ${config.dataDir}` : 'PostgreSQL'}; sandbox: ${app.driver.kind}`,
  )
  if (app.metricsUrl) printLine(`metrics: ${app.metricsUrl}`)
  if (app.ctx.wedges.all().length === 0) {
    printLine(
      `no wedges in ${config.wedgesDir} yet: \`${svc} wedge new NAME\` makes one, examples lie in ${EXAMPLE_WEDGES}`,
    )
  }
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  // A second signal must not cut the drain short.
  process.on('SIGTERM', () => {})
  process.on('SIGINT', () => {})
  await app.stop().catch((error: unknown) => {
    world.log.error({ err: error }, 'the service did not stop cleanly')
    throw error
  })
  release()
}

function printFounderKey(key: string): void {
  printLine(`founder key, shown this once: ${key}`)
  printLine('keep it, and give it to the other commands: export SVC_KEY=<the key>')
}

function withAdvice<T>(config: Config, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw addAdvice(config, error)
  }
}

/** What a person can do about a start that failed. */
function addAdvice({ host, port, dataDir, databaseUrl }: Config, error: unknown): unknown {
  const message = errorMessage(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'EADDRINUSE') {
    return commandFailed(
      `${host}:${port} is taken`,
      'perhaps the service runs already; else choose another with SVC_PORT',
    )
  }
  const listening = error instanceof Error && 'syscall' in error && error.syscall === 'listen'
  const lookedUp = error instanceof Error && 'hostname' in error && error.hostname === host
  if (listening || lookedUp) {
    return commandFailed(`cannot listen on ${host}:${port}: ${message}`, 'choose where with SVC_HOST and SVC_PORT')
  }
  if (message.includes(dataDir))
    return commandFailed(message, 'choose a folder that it can use alone, with SVC_DATA_DIR')
  if (!databaseUrl && message.includes('not a database')) {
    return commandFailed(
      `${dataDir}/svc.db cannot be used: ${message}`,
      'restore a copy, or choose another SVC_DATA_DIR',
    )
  }
  // What PostgreSQL itself says of a database or a user that it does not have.
  if (databaseUrl && /^(3D|28)[0-9A-Z]{3}$/.test(code)) {
    return commandFailed(message, 'make the database and its user, or correct DATABASE_URL')
  }
  if (databaseUrl && /^E[A-Z]+$/.test(code)) {
    return commandFailed(
      `PostgreSQL cannot be reached: ${message}`,
      'start it, correct DATABASE_URL, or unset it for SQLite',
    )
  }
  return error
}

async function lockDataFolder(config: Config): Promise<() => void> {
  const { lockDataFolder: holdFolder } = await import('./store/sqlite/sqlite-store.ts')
  return withAdvice(config, () => holdFolder(config.dataDir))
}

async function rotateVault(oldKey: string) {
  const [{ rotateSecretKey: rotate }, { isReplicaRunning: isServed }] = await Promise.all([
    import('./vault/rotate-key.ts'),
    import('./runs/replica-lease.ts'),
  ])
  return withStore(async (ctx) => {
    // It would go on with the old key, find nothing that opens, and seal over what was sealed anew.
    if (await isServed(ctx)) throw commandFailed('the service is running', 'stop all of its replicas first')
    return rotate(ctx, oldKey)
  })
}

async function adoptChains() {
  const { adoptChains: adopt } = await import('./audit/reseal-heads.ts')
  return withStore(adopt)
}

/** Without doors or wedges. */
async function withStore<T>(work: (ctx: Ctx) => Promise<T>): Promise<T> {
  const [{ openVault }, { openStore }, { createSystemWorld: systemWorld }, { createMemoryState: newMemory }] =
    await Promise.all([
      import('./vault/vault.ts'),
      import('./store/open-store.ts'),
      import('./ctx/system-world.ts'),
      import('./ctx/memory.ts'),
    ])
  const config = loadConfig(process.env)
  const world = systemWorld(config.logLevel)
  const store = await openStore(config, (message, err) => world.log.warn({ err }, message))
  const wedges = { get: () => undefined, find: async () => undefined, all: () => [], problems: () => [] }
  try {
    const vault = openVault(world)
    return await work({ config, store, db: store.db, world, ...newMemory(), wedges, vault, replica: 'command line' })
  } finally {
    await store.close()
  }
}

async function backupSqlite(file: string): Promise<void> {
  const { copySqliteStore: copySqlite } = await import('./store/sqlite/sqlite-store.ts')
  copySqlite(loadConfig(process.env).dataDir, file)
}

/** Beside `dist`, in a clone as in the package. */
const EXAMPLE_WEDGES = fileURLToPath(new URL('../wedges', import.meta.url))

const printLine = (line: string) => process.stdout.write(`${line}\n`)

// Whoever reads our output may have seen enough: `svc tasks | head`. What could not be written otherwise is lost.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  process.stderr.write(`svc: the output cannot be written: ${error.message}\n`)
  process.exit(EXIT_CODE.failed)
})
// There is nobody left to tell.
process.stderr.on('error', () => {})

/** A pipe takes what its reader takes, and an exit loses the rest. */
const flushed = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.write('', () => resolve()))

void runCommandLine({
  args: process.argv.slice(2),
  env: process.env,
  streams: process,
  programPath: process.argv[1] ?? '',
  server: { serve, rotateVault, adoptChains, backupSqlite },
}).then(async (code) => {
  await Promise.all([flushed(process.stdout), flushed(process.stderr)])
  process.exit(code)
})
