import { fileURLToPath } from 'node:url'
import { messageOf } from './base/message-of.ts'
import { runCommandLine } from './cli/cli.ts'
import { EXIT, failed } from './cli/failure.ts'
import { unknownSettings } from './cli/unknown-settings.ts'
import { type Config, loadConfig } from './config/config.ts'
import type { Ctx } from './ctx/ctx.ts'

// The server's code is loaded only by the commands that need it: the others answer at once.

/** Starts one replica and stays until it is told to stop. */
async function serve(svc: string): Promise<void> {
  const [{ startApp }, { systemWorld }] = await Promise.all([import('./app.ts'), import('./ctx/system.ts')])
  const config = loadConfig(process.env)
  const world = systemWorld(config.logLevel)
  for (const sentence of unknownSettings(process.env)) world.log.warn(sentence)
  const release = config.databaseUrl ? () => {} : await holdData(config)
  const app = await startApp(config, world, tellKey).catch((error: unknown) => {
    throw advised(config, error)
  })
  say(`Agent Work Service listens on ${app.url}`)
  say(
    `store: ${app.ctx.store.kind === 'sqlite' ? `SQLite in ${config.dataDir}` : 'PostgreSQL'}; sandbox: ${app.driver.kind}`,
  )
  if (app.metricsUrl) say(`metrics: ${app.metricsUrl}`)
  if (app.ctx.wedges.all().length === 0) {
    say(`no wedges in ${config.wedgesDir} yet: \`${svc} wedge new NAME\` makes one, examples lie in ${EXAMPLES}`)
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

function tellKey(key: string): void {
  say(`founder key, shown this once: ${key}`)
  say('keep it, and give it to the other commands: export SVC_KEY=<the key>')
}

function advising<T>(config: Config, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw advised(config, error)
  }
}

/** What a person can do about a start that failed. */
function advised({ host, port, dataDir, databaseUrl }: Config, error: unknown): unknown {
  const message = messageOf(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'EADDRINUSE') {
    return failed(`${host}:${port} is taken`, 'perhaps the service runs already; else choose another with SVC_PORT')
  }
  const listening = error instanceof Error && 'syscall' in error && error.syscall === 'listen'
  const lookedUp = error instanceof Error && 'hostname' in error && error.hostname === host
  if (listening || lookedUp) {
    return failed(`cannot listen on ${host}:${port}: ${message}`, 'choose where with SVC_HOST and SVC_PORT')
  }
  if (message.includes(dataDir)) return failed(message, 'choose a folder that it can use alone, with SVC_DATA_DIR')
  if (!databaseUrl && message.includes('not a database')) {
    return failed(`${dataDir}/svc.db cannot be used: ${message}`, 'restore a copy, or choose another SVC_DATA_DIR')
  }
  // What PostgreSQL itself says of a database or a user that it does not have.
  if (databaseUrl && /^(3D|28)[0-9A-Z]{3}$/.test(code)) {
    return failed(message, 'make the database and its user, or correct DATABASE_URL')
  }
  if (databaseUrl && /^E[A-Z]+$/.test(code)) {
    return failed(`PostgreSQL cannot be reached: ${message}`, 'start it, correct DATABASE_URL, or unset it for SQLite')
  }
  return error
}

async function holdData(config: Config): Promise<() => void> {
  const { holdFolder } = await import('./store/sqlite.ts')
  return advising(config, () => holdFolder(config.dataDir))
}

async function rotateVault(oldKey: string) {
  const [{ rotateVault: rotate }, { isServed }] = await Promise.all([
    import('./connections/rotate.ts'),
    import('./runs/served.ts'),
  ])
  return onStore(async (ctx) => {
    // It would go on with the old key, find nothing that opens, and seal over what was sealed anew.
    if (await isServed(ctx)) throw failed('the service is running', 'stop all of its replicas first')
    return rotate(ctx, oldKey)
  })
}

async function adoptChains() {
  const { adoptChains: adopt } = await import('./audit/seal-heads.ts')
  return onStore(adopt)
}

/** Without doors or wedges. */
async function onStore<T>(work: (ctx: Ctx) => Promise<T>): Promise<T> {
  const [{ openVault }, { openStore }, { systemWorld }, { newMemory }] = await Promise.all([
    import('./connections/vault.ts'),
    import('./store/open.ts'),
    import('./ctx/system.ts'),
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
  const { copySqlite } = await import('./store/sqlite.ts')
  copySqlite(loadConfig(process.env).dataDir, file)
}

/** Beside `dist`, in a clone as in the package. */
const EXAMPLES = fileURLToPath(new URL('../wedges', import.meta.url))

const say = (line: string) => process.stdout.write(`${line}\n`)

// Whoever reads our output may have seen enough: `svc tasks | head`. What could not be written otherwise is lost.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  process.stderr.write(`svc: the output cannot be written: ${error.message}\n`)
  process.exit(EXIT.failed)
})
// There is nobody left to tell.
process.stderr.on('error', () => {})

/** A pipe takes what its reader takes, and an exit loses the rest. */
const written = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.write('', () => resolve()))

void runCommandLine({
  words: process.argv.slice(2),
  env: process.env,
  streams: process,
  program: process.argv[1] ?? '',
  server: { serve, rotateVault, adoptChains, backupSqlite },
}).then(async (code) => {
  await Promise.all([written(process.stdout), written(process.stderr)])
  process.exit(code)
})
