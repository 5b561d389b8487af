import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { KNOWN_SETTINGS, SECRET_SETTINGS } from '../../../platform/contract/settings.ts'

/** Relative to the folder in which the program was started. */
export const ENV_FILE_NAME = '.env'

export interface EnvFile {
  /** The settings of the file that the environment does not have. */
  settings: Record<string, string>
  /** Why the file, or a line of it, was not read, and what is wrong with the file. */
  warnings: string[]
}

type Env = Record<string, string | undefined>

/**
 * Reads the settings in `.env`. The file may be part of a folder that was only downloaded, so it must not start programs
 * outside the sandbox, nor send keys and files of the user away. Other variables than settings are left alone for the same
 * reason: they choose the editor or the libraries of this process.
 */
export function readEnvFile(env: Env, folder = ''): EnvFile {
  try {
    const file = openFile(join(folder, ENV_FILE_NAME))
    if (file === null) return { settings: {}, warnings: [] }
    const problem = findProblem(file.stats)
    if (problem !== null) return { settings: {}, warnings: [`.env was not read, because ${problem}`] }
    return chooseSettings(env, file)
  } catch (error) {
    return { settings: {}, warnings: [`.env cannot be read: ${errorMessage(error)}`] }
  }
}

/** Settings that decide who reaches the service, what it reaches, and where its data is. */
const ACCESS_SETTINGS = [
  'SVC_FOUNDER_API_KEY',
  'SVC_HOST',
  'SVC_PORT',
  'SVC_EGRESS_ALLOW',
  'SVC_OPEN_SIGNUP',
  'SVC_PUBLIC_URL',
  'DATABASE_URL',
  'SVC_DATA_DIR',
]

/** Names the settings of the file that somebody who did not write it must know of; null if there are none. */
export function describeAccessSettings({ settings }: Pick<EnvFile, 'settings'>): string | null {
  const names = ACCESS_SETTINGS.filter((name) => Object.hasOwn(settings, name))
  return names.length === 0 ? null : `read from .env: ${names.join(', ')}`
}

interface OpenedFile {
  stats: Stats
  text: string
}

/** Owner and mode are those of the file that is read, also if another one gets its name meanwhile. Null if there is no file. */
function openFile(path: string): OpenedFile | null {
  if (!existsSync(path)) return null
  // A named pipe without a writer would block the program.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    return stats.isFile() ? { stats, text: readFileSync(descriptor, 'utf8') } : null
  } finally {
    closeSync(descriptor)
  }
}

/** Windows has neither owners nor modes. */
function findProblem({ uid, mode }: Stats): string | null {
  if (process.getuid === undefined) return null
  if (![process.getuid(), 0].includes(uid)) return 'it belongs to another user'
  return (mode & 0o022) === 0 ? null : 'other users can write it; run: chmod 600 .env'
}

function chooseSettings(env: Env, { stats, text }: OpenedFile): EnvFile {
  const settings: Record<string, string> = {}
  const warnings: string[] = []
  for (const [name, value] of Object.entries(parseEnv(text))) {
    if (!value || !isSetting(name) || isSet(env, name)) continue
    const refusal = refuseSetting(env, name)
    if (refusal === null) settings[name] = value
    else warnings.push(`.env: ${name} is not read${refusal}`)
  }
  // A group may be chosen on purpose.
  const isReadByAll = process.getuid !== undefined && (stats.mode & 0o004) !== 0
  if (isReadByAll && Object.keys(settings).some(isSecret))
    warnings.push('.env: other users can read its secrets; run: chmod 600 .env')
  return { settings, warnings }
}

/** Misspelt settings are passed on, because the service names them at its start. */
const isSetting = (name: string) => name.startsWith('SVC_') || KNOWN_SETTINGS.includes(name)

/** A secret may also be in a file that the environment names. */
const isSet = (env: Env, name: string) => Boolean(env[name] || (SECRET_SETTINGS.has(name) && env[`${name}_FILE`]))

const isSecret = (name: string) => SECRET_SETTINGS.has(name) || ['SVC_KEY', 'SVC_SECRET_KEY_OLD'].includes(name)

/** They choose the server of the user's key, programs, their isolation, or the variables that connections may use. */
const NEVER_FROM_FILE = [
  'SVC_URL',
  'SVC_SANDBOX',
  'SVC_AGENT_COMMAND',
  'SVC_AGENT_DIR',
  'SVC_ENV_SECRETS',
  'SVC_CALLED_AS',
]

const TRACE_KEYS = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS']

/** What is sent to the address in a setting. */
const KEYS_OF_ADDRESS: Record<string, string[]> = {
  ANTHROPIC_BASE_URL: ['ANTHROPIC_API_KEY'],
  OPENAI_BASE_URL: ['OPENAI_API_KEY'],
  BROKER_BASE_URL: ['BROKER_API_KEY'],
  SVC_S3_ENDPOINT: ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
  OTEL_EXPORTER_OTLP_ENDPOINT: TRACE_KEYS,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: TRACE_KEYS,
  DATABASE_URL: ['PGPASSWORD'],
}

/** Why this setting must not come from a file, as the end of a sentence. */
function refuseSetting(env: Env, name: string): string | null {
  // Any file could be sent away as a key.
  if (NEVER_FROM_FILE.includes(name) || name.endsWith('_FILE')) return ' from a file; set it in the environment'
  const key = KEYS_OF_ADDRESS[name]?.find((one) => isSet(env, one))
  return key === undefined
    ? null
    : `, because ${key} of the environment would be sent there; set it in the environment, too`
}
