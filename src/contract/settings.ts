import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorMessage } from '../base/error-message.ts'

type Env = Record<string, string | undefined>

/**
 * Settings that hold a secret. Each may be given as a file instead, named by `<NAME>_FILE`: an environment is shown to
 * every process of the same user, and container platforms hand out secrets as files.
 */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set([
  'SVC_SECRET_KEY',
  'SVC_FOUNDER_API_KEY',
  'SVC_METRICS_TOKEN',
  'DATABASE_URL',
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'BROKER_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
])

/** What is set to nothing is not set: a compose file hands on every variable that it names. */
export const resolveDataDir = (env: Env, cwd = '') => resolve(cwd, env.SVC_DATA_DIR || '.svc')
export const resolveWedgesDir = (env: Env, cwd = '') => resolve(cwd, env.SVC_WEDGES_DIR || 'wedges')

/** The value of a setting, from the environment or from the file that it names. */
export function readSetting(env: Env, name: string): string | undefined {
  const file = SECRET_SETTINGS.has(name) ? env[`${name}_FILE`] : undefined
  if (env[name] || !file) return env[name]
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`${name}_FILE cannot be read: ${errorMessage(error)}`, { cause: error })
  }
}
