import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { closestName } from '../base/closest-name.ts'
import { errorMessage } from '../base/error-message.ts'

/**
 * Settings that hold a secret. Each may come from a file instead, named by `<NAME>_FILE`: an environment variable is
 * visible to every process of the same user, and container platforms provide secrets as files.
 */
const SECRET_SETTING_NAMES = [
  'SVC_SECRET_KEY',
  'SVC_FOUNDER_API_KEY',
  'SVC_METRICS_TOKEN',
  'DATABASE_URL',
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'BROKER_API_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
] as const

const PLAIN_SETTING_NAMES = [
  'SVC_AGENT_COMMAND',
  'SVC_AGENT_DIR',
  'SVC_AGENT_MAX_MEMORY_MB',
  'SVC_APPROVAL_TTL_MAX_S',
  'SVC_APPROVAL_TTL_S',
  'SVC_BLUEPRINTS_DIR',
  'SVC_CALLED_AS',
  'SVC_CORS_ORIGINS',
  'SVC_DATABASE_WAIT_S',
  'SVC_DATA_DIR',
  'SVC_DOMAIN_RATE_PER_HOUR',
  'SVC_DRAIN_DELAY_S',
  'SVC_EGRESS_ALLOW',
  'SVC_ENV_SECRETS',
  'SVC_FILES',
  'SVC_FILE_MAX_MB',
  'SVC_HOST',
  'SVC_KEY',
  'SVC_LEASE_MS',
  'SVC_LOG_LEVEL',
  'SVC_MAX_CLIENT_MB',
  'SVC_MAX_CONCURRENT_TASKS',
  'SVC_MAX_CONNECTIONS_PER_ADDRESS',
  'SVC_MAX_COST_USD',
  'SVC_MAX_PROJECT_MB',
  'SVC_MAX_RUNTIME_S',
  'SVC_MAX_RUN_MB',
  'SVC_MAX_WAITING_RUNS',
  'SVC_METRICS_HOST',
  'SVC_METRICS_PORT',
  'SVC_MODEL',
  'SVC_MODEL_MAX_TOKENS',
  'SVC_MODEL_TIMEOUT_S',
  'SVC_OPEN_SIGNUP',
  'SVC_PARK_AFTER_S',
  'SVC_POOL',
  'SVC_PORT',
  'SVC_PRICES',
  'SVC_PUBLIC_URL',
  'SVC_READ_MAX_PER_TASK',
  'SVC_RECORD_REHEARSAL',
  'SVC_RETENTION_DAYS',
  'SVC_ROLE',
  'SVC_RUNNER_PROJECTS',
  'SVC_RUNNER_WEDGES',
  'SVC_S3_ENDPOINT',
  'SVC_SANDBOX',
  'SVC_SECRET_KEY_OLD',
  'SVC_SENDER_RATE_PER_HOUR',
  'SVC_SQLITE_SYNC',
  'SVC_SSE_KEEPALIVE_MS',
  'SVC_TASK_RATE_PER_MIN',
  'SVC_TASK_RETENTION_DAYS',
  'SVC_TRUSTED_PROXIES',
  'SVC_URL',
  'SVC_WEDGES_DIR',
  'SVC_WORKFLOW_TIMEOUT_MS',
  'AWS_REGION',
  'ANTHROPIC_BASE_URL',
  'OPENAI_BASE_URL',
  'BROKER_BASE_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SDK_DISABLED',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_EXPORTER',
  'OTEL_TRACES_SAMPLER',
] as const

type SecretSettingName = (typeof SECRET_SETTING_NAMES)[number]
export type SettingName = SecretSettingName | (typeof PLAIN_SETTING_NAMES)[number]

/** An environment in which a misspelt setting is a type error. */
export type SettingsEnv = { readonly [Name in SettingName | `${SecretSettingName}_FILE`]?: string | undefined }

export const SECRET_SETTINGS: ReadonlySet<string> = new Set(SECRET_SETTING_NAMES)

/** Every variable that the server or the command line reads, apart from `SVC_MODEL_<TIER>`. */
export const KNOWN_SETTINGS: readonly string[] = [
  ...PLAIN_SETTING_NAMES,
  ...SECRET_SETTING_NAMES.flatMap((name) => [name, `${name}_FILE`]),
]

/** Describes each misspelt setting: the default would otherwise apply without notice. */
export function describeUnknownSettings(env: Record<string, string | undefined>): string[] {
  const unknown = Object.keys(env).filter(
    (name) => /^SVC_(?!MODEL_)/.test(name) && !KNOWN_SETTINGS.includes(name) && env[name] !== undefined,
  )
  return unknown.map((name) => {
    const suggestion = closestName(name, KNOWN_SETTINGS)
    return `unknown setting ${name}${suggestion ? ` (did you mean ${suggestion}?)` : ''}`
  })
}

/** An empty value counts as not set, because a compose file passes on every variable that it names. */
export const resolveDataDir = (env: SettingsEnv, cwd = '') => resolve(cwd, env.SVC_DATA_DIR || '.svc')
export const resolveWedgesDir = (env: SettingsEnv, cwd = '') => resolve(cwd, env.SVC_WEDGES_DIR || 'wedges')
export const resolveBlueprintsDir = (env: SettingsEnv, cwd = '') => resolve(cwd, env.SVC_BLUEPRINTS_DIR || 'blueprints')

/** The file in which `svc init` keeps the key of the vault. */
export const secretKeyFile = (env: SettingsEnv) => join(resolveDataDir(env), 'secret.key')

/**
 * The value of a setting, from the environment or from the file that `<NAME>_FILE` names. Without both, SVC_SECRET_KEY
 * comes from the file of `svc init`.
 */
export function readSetting(env: Record<string, string | undefined>, name: string): string | undefined {
  const file = SECRET_SETTINGS.has(name) ? env[`${name}_FILE`] || createdFile(env, name) : undefined
  if (env[name] || !file) return env[name]
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`${name}_FILE cannot be read: ${errorMessage(error)}`, { cause: error })
  }
}

function createdFile(env: SettingsEnv, name: string): string | undefined {
  return name === 'SVC_SECRET_KEY' && existsSync(secretKeyFile(env)) ? secretKeyFile(env) : undefined
}
