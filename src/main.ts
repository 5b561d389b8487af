import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorMessage } from './platform/base/error-message.ts'
import { runCommandLine } from './programs/cli/cli.ts'
import type { SandboxChoice, SandboxTrial } from './programs/cli/shell/command.ts'
import { EXIT_CODE, commandFailed } from './programs/cli/shell/failure.ts'
import { describeAccessSettings, readEnvFile } from './programs/cli/shell/env-file.ts'
import { formatStartBox } from './programs/cli/shell/start-box.ts'
import { type Config, loadConfig } from './platform/config/config.ts'
import { describeUnknownSettings, resolveDataDir } from './platform/contract/settings.ts'
import type { Ctx } from './platform/ctx/ctx.ts'
import type { SandboxLog } from './execution/sandbox/driver.ts'

// The server's code is imported only by the commands that need it, so that the others start fast.

/** Runs one replica until the process gets a signal to stop. */
async function serve(svc: string): Promise<void> {
  const [{ startApp }, { createSystemWorld }] = await Promise.all([
    import('./server/app.ts'),
    import('./platform/ctx/system-world.ts'),
  ])
  const fromFile = describeAccessSettings(envFile)
  // Not by the log, because the file may set its level.
  if (fromFile !== null) warn(fromFile)
  const config = loadConfig(process.env)
  const world = createSystemWorld(config.logLevel)
  for (const sentence of describeUnknownSettings(process.env)) world.log.warn(sentence)
  const release = config.databaseUrl ? () => {} : await lockDataFolder(config)
  let founderKey: string | null = null
  const onFounderKey = (key: string) => {
    founderKey = key
    // At once, because a later step of the start may fail.
    printLine(`founder key, shown only once: ${key}`)
  }
  const app = await startApp(config, world, onFounderKey).catch((error: unknown) => {
    throw addAdvice(config, error)
  })
  // Before the first line, because its reader may send a signal at once.
  const stopSignal = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  printLine(`Agent Work Service listens on ${app.url}`)
  const sandbox = app.driver?.kind ?? 'none, because SVC_ROLE=api executes no tasks'
  printLine(
    `store: ${app.ctx.store.kind === 'sqlite' ? `SQLite in ${config.dataDir}` : 'PostgreSQL'}; sandbox: ${sandbox}`,
  )
  if (app.metricsUrl) printLine(`metrics: ${app.metricsUrl}`)
  if (app.ctx.wedges.all().length === 0) {
    printLine(
      `no wedges in ${config.wedgesDir} yet: \`${svc} init\` adds the examples, \`${svc} wedge new NAME\` creates one`,
    )
  }
  if (founderKey && process.stdout.isTTY) printLine(formatStartBox(app.url, founderKey))
  await stopSignal
  // A second signal must not cut the drain short.
  process.on('SIGTERM', () => {})
  process.on('SIGINT', () => {})
  await app.stop().catch((error: unknown) => {
    world.log.error({ err: error }, 'the service did not stop cleanly')
    throw error
  })
  release()
}

/** Adds advice to the error that the work throws. */
function withAdvice<T>(config: Config, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw addAdvice(config, error)
  }
}

/** The error of a failed start together with what the operator can do about it. */
function addAdvice({ host, port, dataDir, databaseUrl }: Config, error: unknown): unknown {
  const message = errorMessage(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'EADDRINUSE') {
    return commandFailed(
      `${host}:${port} is already in use`,
      'stop the process that uses it, or choose another port with SVC_PORT',
    )
  }
  const listening = error instanceof Error && 'syscall' in error && error.syscall === 'listen'
  const lookedUp = error instanceof Error && 'hostname' in error && error.hostname === host
  if (listening || lookedUp) {
    return commandFailed(
      `cannot listen on ${host}:${port}: ${message}`,
      'set SVC_HOST and SVC_PORT to an address of this machine',
    )
  }
  if (message.includes(dataDir))
    return commandFailed(message, 'set SVC_DATA_DIR to a folder that no other service uses')
  if (!databaseUrl && message.includes('not a database')) {
    return commandFailed(
      `${dataDir}/svc.db cannot be used: ${message}`,
      'restore a backup, or set SVC_DATA_DIR to another folder',
    )
  }
  // PostgreSQL's codes for a missing database and for a user that may not sign in.
  if (databaseUrl && /^(3D|28)[0-9A-Z]{3}$/.test(code)) {
    return commandFailed(message, 'create the database and its user, or correct DATABASE_URL')
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
  const store = await import('./platform/store/sqlite/sqlite-store.ts')
  return withAdvice(config, () => store.lockDataFolder(config.dataDir))
}

async function rotateVault(oldKey: string) {
  const [{ rotateSecretKey }, { isReplicaRunning }] = await Promise.all([
    import('./identity/vault/rotate-key.ts'),
    import('./execution/runs/replicas/replica-lease.ts'),
  ])
  return withStore(async (ctx) => {
    // A running replica would keep the old key: it could not open the secrets, and it would seal new ones with that key.
    if (await isReplicaRunning(ctx)) throw commandFailed('the service is running', 'stop all of its replicas first')
    return rotateSecretKey(ctx, oldKey)
  })
}

async function adoptChains() {
  const resealHeads = await import('./audit/reseal-heads.ts')
  return withStore(resealHeads.adoptChains)
}

/** Runs the work with an open store, without servers and without wedges. */
async function withStore<T>(work: (ctx: Ctx) => Promise<T>): Promise<T> {
  const [{ openVault }, { openStore }, { createSystemWorld }, { createMemoryState }] = await Promise.all([
    import('./identity/vault/vault.ts'),
    import('./platform/store/open-store.ts'),
    import('./platform/ctx/system-world.ts'),
    import('./platform/ctx/memory.ts'),
  ])
  const config = loadConfig(process.env)
  const world = createSystemWorld(config.logLevel)
  const store = await openStore(config, (message, err) => world.log.warn({ err }, message))
  const wedges = { get: () => undefined, find: async () => undefined, all: () => [], problems: () => [] }
  try {
    const vault = openVault(world)
    return await work({
      config,
      store,
      db: store.db,
      world,
      ...createMemoryState(),
      wedges,
      vault,
      replica: 'command line',
    })
  } finally {
    await store.close()
  }
}

async function backupSqlite(file: string): Promise<void> {
  const { copySqliteStore } = await import('./platform/store/sqlite/sqlite-store.ts')
  copySqliteStore(loadConfig(process.env).dataDir, file)
}

async function trySandbox(choice: SandboxChoice): Promise<SandboxTrial> {
  const [{ pickSandboxDriver }, { tryFetch }, { createSystemWorld }] = await Promise.all([
    import('./execution/sandbox/pick-driver.ts'),
    import('./execution/runs/cells/fetch-trial.ts'),
    import('./platform/ctx/system-world.ts'),
  ])
  const dataDir = resolveDataDir({ SVC_DATA_DIR: process.env['SVC_DATA_DIR'] })
  const warnings: string[] = []
  const keepWarning: SandboxLog = (line, level) => {
    if (level === 'warn') warnings.push(line.replace(/^WARNING: (?:sandbox: )?/, ''))
  }
  const driver = await pickSandboxDriver(choice, keepWarning, existsSync(dataDir) ? [dataDir] : [])
  const { kind, canLoopback: hasLoopback } = driver
  const world = createSystemWorld('error')
  const agentDir = join(PACKAGE_ROOT, 'dist')
  const fetchProblem = hasLoopback ? await tryFetch({ world, dataDir, driver, agentDir }) : null
  return { kind, warnings, hasLoopback, fetchProblem }
}

/** The parent of `dist`, in a clone and in the package. */
const PACKAGE_ROOT = fileURLToPath(new URL('..', import.meta.url))

const printLine = (line: string) => process.stdout.write(`${line}\n`)
const warn = (sentence: string) => process.stderr.write(`svc: ${sentence}\n`)

// The reader may close the pipe early, as in `svc tasks | head`: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  process.stderr.write(`svc: the output cannot be written: ${error.message}\n`)
  process.exit(EXIT_CODE.failed)
})
// An error that cannot be written to standard error cannot be reported.
process.stderr.on('error', () => {})

/** Resolves when the stream's output is written; an exit before that would lose the rest. */
const flushed = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.write('', () => resolve()))

const envFile = readEnvFile(process.env)
Object.assign(process.env, envFile.settings)
for (const warning of envFile.warnings) warn(warning)

void runCommandLine({
  args: process.argv.slice(2),
  env: process.env,
  streams: process,
  programPath: process.argv[1] ?? '',
  packageRoot: PACKAGE_ROOT,
  server: { serve, rotateVault, adoptChains, backupSqlite, trySandbox },
}).then(async (code) => {
  await Promise.all([flushed(process.stdout), flushed(process.stderr)])
  process.exit(code)
})
