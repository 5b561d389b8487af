import { SECRET_SETTINGS } from '../../contract/settings.ts'
import { closestName } from '../shell/closest-name.ts'

const KNOWN_SETTINGS = [
  'SVC_AGENT_COMMAND',
  'SVC_AGENT_DIR',
  'SVC_APPROVAL_TTL_S',
  'SVC_BLUEPRINTS_DIR',
  'SVC_CALLED_AS',
  'SVC_DATA_DIR',
  'SVC_EGRESS_ALLOW',
  'SVC_ENV_SECRETS',
  'SVC_HOST',
  'SVC_KEY',
  'SVC_LOG_LEVEL',
  'SVC_MAX_CONCURRENT_TASKS',
  'SVC_MAX_COST_USD',
  'SVC_MAX_RUNTIME_S',
  'SVC_METRICS_HOST',
  'SVC_METRICS_PORT',
  'SVC_MODEL',
  'SVC_OPEN_SIGNUP',
  'SVC_POOL',
  'SVC_PORT',
  'SVC_PUBLIC_URL',
  'SVC_READ_MAX_PER_TASK',
  'SVC_RECORD_REHEARSAL',
  'SVC_RETENTION_DAYS',
  'SVC_SANDBOX',
  'SVC_SECRET_KEY_OLD',
  'SVC_SQLITE_SYNC',
  'SVC_SSE_KEEPALIVE_MS',
  'SVC_TASK_RATE_PER_MIN',
  'SVC_TRUSTED_PROXIES',
  'SVC_URL',
  'SVC_WEDGES_DIR',
  'SVC_WORKFLOW_TIMEOUT_MS',
  ...[...SECRET_SETTINGS].flatMap((name) => [name, `${name}_FILE`]),
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
