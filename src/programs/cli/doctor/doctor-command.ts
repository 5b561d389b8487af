import { existsSync } from 'node:fs'
import { listDatabaseServers, readDatabaseUrl } from '../../../platform/contract/database-url.ts'
import { errorMessage } from '../../../platform/base/error-message.ts'
import {
  describeUnknownSettings,
  readSetting,
  resolveDataDir,
  resolveWedgesDir,
  SECRET_SETTINGS,
} from '../../../platform/contract/settings.ts'
import { checkWedge } from '../wedge/check-wedge.ts'
import { quoteForShell } from '../shell/program-name.ts'
import type { CliCommand, CommandContext } from '../shell/command.ts'
import { EXIT_CODE } from '../shell/failure.ts'
import { type CheckResult, okCheck, warnCheck, failCheck } from './check-result.ts'
import { checkDisk, checkNodeVersion } from './machine-checks.ts'
import { checkSandbox } from './sandbox-checks.ts'
import { listWedgeFolders } from '../wedge/wedge-folders.ts'

export const doctorCommand: CliCommand = {
  name: 'doctor',
  usage: '',
  summary: 'check this machine and the settings, and say how to fix each problem',
  details: 'The exit code is 1 if the service cannot work with these settings. Warnings do not count.',
  argCount: [0, 0],
  async run({ context }) {
    const { terminal, env, programName: svc } = context
    const results = [
      checkNodeVersion(),
      // A replica with this role executes no tasks.
      ...(env.SVC_ROLE === 'api' ? [] : await checkSandbox(env.SVC_SANDBOX || 'auto', context.server)),
      checkDisk(resolveDataDir(env)),
      ...describeUnknownSettings(env).map((message) => warnCheck('settings', message, 'correct the name, or unset it')),
      ...(await checkSettings(env, svc)),
      await checkWedges(env, svc),
    ]
    for (const result of results) {
      if (terminal.isJson) terminal.printJson(result)
      else showCheck(context, result)
    }
    return results.some(({ level }) => level === 'fail') ? EXIT_CODE.failed : EXIT_CODE.ok
  },
}

const MARKS = { ok: ['✓', 'green'], warn: ['!', 'yellow'], fail: ['✗', 'red'] } as const

function showCheck({ terminal }: CommandContext, { check, level, detail, fix }: CheckResult): void {
  const [mark, style] = MARKS[level]
  terminal.print(`${terminal.styled(style, mark)} ${check}: ${detail}`)
  if (fix) terminal.print(`    ${fix}`)
}

/** If a secret's file cannot be read, the checks that need its value are skipped. */
async function checkSettings(env: CommandContext['env'], svc: string): Promise<CheckResult[]> {
  try {
    for (const name of SECRET_SETTINGS) readSetting(env, name)
  } catch (error) {
    return [failCheck('settings', errorMessage(error), 'correct the path, and make the file readable for the service')]
  }
  return [await checkStore(env), checkSecretKey(env, svc), checkModel(env)]
}

async function checkStore(env: CommandContext['env']): Promise<CheckResult> {
  try {
    const url = readDatabaseUrl(env)
    return url ? await checkPostgres(url) : okCheck('store', `SQLite in ${resolveDataDir(env)}`)
  } catch (error) {
    return failCheck('store', errorMessage(error), 'correct DATABASE_URL, or unset it')
  }
}

/** One of the servers must accept writes. If several are named, the others should be ready to take over. */
async function checkPostgres(url: string): Promise<CheckResult> {
  const servers = await Promise.all(listDatabaseServers(url).map(checkDatabaseServer))
  const text = servers.map(({ description }) => description).join('; ')
  if (!servers.some(({ state }) => state === 'primary')) {
    const fix =
      'start PostgreSQL, correct DATABASE_URL (postgres://user:password@host:5432/name), or unset it to use SQLite'
    return failCheck('store', text, fix)
  }
  return servers.some(({ state }) => state === 'unusable')
    ? warnCheck('store', text, 'start the other server again: without it no failover is possible')
    : okCheck('store', text)
}

interface DatabaseServerState {
  state: 'primary' | 'standby' | 'unusable'
  description: string
}

/** The description names host and database but not the URL, which contains the password. */
async function checkDatabaseServer(url: string): Promise<DatabaseServerState> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  const server = `PostgreSQL at ${client.host}:${client.port}, database ${client.database}`
  try {
    await client.connect()
    const { rows } = await client.query(
      `select current_setting('server_version') as version, pg_is_in_recovery() as is_standby`,
    )
    const version = `(version ${String(rows[0]?.version)})`
    if (rows[0]?.is_standby === true) return { state: 'standby', description: `${server} is a standby ${version}` }
    return { state: 'primary', description: `${server} works ${version}` }
  } catch (error) {
    const reason = errorMessage(error) || 'no response'
    return { state: 'unusable', description: `${server} cannot be used: ${reason}` }
  } finally {
    await client.end().catch(() => {})
  }
}

function checkSecretKey(env: CommandContext['env'], svc: string): CheckResult {
  const text = readSetting(env, 'SVC_SECRET_KEY')?.trim()
  if (text === undefined) {
    const fix = `run \`${svc} init\`, and keep a copy of the key: without it stored secrets cannot be decrypted`
    return warnCheck('secret key', 'not set: stored secrets are lost at the next start', fix)
  }
  const isValid = /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) && Buffer.from(text, 'base64').length === 32
  return isValid
    ? okCheck('secret key', 'set, 32 bytes')
    : failCheck(
        'secret key',
        'SVC_SECRET_KEY is not 32 bytes in base64',
        'export SVC_SECRET_KEY="$(openssl rand -base64 32)"',
      )
}

function checkModel(env: CommandContext['env']): CheckResult {
  const name = env.SVC_MODEL
  if (!name)
    return okCheck(
      'model',
      'none, so rehearsals are played; to use a model, set SVC_MODEL=anthropic/NAME or openai/NAME',
    )
  const key = name.startsWith('anthropic/') ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY'
  return readSetting(env, key)
    ? okCheck('model', name)
    : warnCheck('model', `${name}, but ${key} is not set`, `export ${key}=…`)
}

async function checkWedges(env: CommandContext['env'], svc: string): Promise<CheckResult> {
  const root = resolveWedgesDir(env)
  const fix = `create one with \`${svc} wedge new NAME\`, or set SVC_WEDGES_DIR to another folder`
  if (!existsSync(root)) return warnCheck('wedges', `folder ${root} does not exist`, fix)
  const folders = listWedgeFolders(root)
  const findings = (await Promise.all(folders.map((folder) => checkWedge(env, folder))))
    .flat()
    .filter(({ level }) => level === 'error')
  if (findings.length > 0)
    return failCheck('wedges', `${findings.length} errors in ${root}`, `${svc} wedge check ${quoteForShell(root)}`)
  return folders.length > 0
    ? okCheck('wedges', `${folders.length} in ${root}, no errors`)
    : warnCheck('wedges', `none in ${root}`, fix)
}
