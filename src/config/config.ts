import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { readDatabaseUrl } from '../contract/database-url.ts'
import { resolveDataDir, SECRET_SETTINGS, readSetting, resolveWedgesDir } from '../contract/settings.ts'
import { parseHttpUrl } from './http-url.ts'
import { type OtlpConfig, readOtlpConfig } from './otlp-config.ts'
import { checkTrustedProxies } from './trusted-proxies.ts'

/** The deployment's settings, read once at start. Secrets are not among them: `world.env` opens those where they are used. */
export interface Config {
  host: string
  port: number
  /** Where people reach the service, for links that leave it. */
  publicUrl: string | null
  /** Whose word is taken for where a request comes from: addresses and networks. */
  trustedProxies: string[]
  dataDir: string
  databaseUrl: string | null
  sqliteSync: 'full' | 'normal'
  wedgesDir: string
  blueprintsDir: string
  sandbox: 'auto' | 'bwrap' | 'process'
  founderApiKey: string | null
  openSignup: boolean
  /** 0: a replica that only serves. */
  maxConcurrentTasks: number
  pool: number
  maxRuntimeS: number
  maxCostUsd: number
  taskRatePerMin: number
  approvalTtlS: number
  readMaxPerTask: number
  workflowTimeoutMs: number
  sseKeepaliveMs: number
  agentCommand: string | null
  agentDir: string | null
  /** `provider/name`, by project tier; the tier `default` serves the rest. */
  models: Record<string, string>
  anthropicBaseUrl: string
  openaiBaseUrl: string
  brokerBaseUrl: string
  egressAllow: string[]
  envSecrets: string[] | null
  recordRehearsal: boolean
  /** Logs and files of tasks that ended longer ago are removed; null: everything is kept. */
  retentionDays: number | null
  logLevel: string
  /** Where Prometheus may look; null: nowhere. */
  metricsPort: number | null
  metricsHost: string
  /** Where the traces of finished tasks are sent; null: nowhere. */
  otlp: OtlpConfig | null
}

type Env = Record<string, string | undefined>

export function loadConfig(given: Env, cwd = process.cwd()): Config {
  const env = withoutBlanks(given)
  // A file that cannot be read must not be found out by the first call that needs it.
  for (const name of SECRET_SETTINGS) readSetting(env, name)
  return {
    host: env.SVC_HOST ?? '127.0.0.1',
    port: integerSetting(env, 'SVC_PORT', 8787, 0, MAX_PORT),
    publicUrl: urlSetting(env, 'SVC_PUBLIC_URL') ?? null,
    trustedProxies: checkTrustedProxies(parseList(env.SVC_TRUSTED_PROXIES)),
    dataDir: resolveDataDir(env, cwd),
    databaseUrl: readDatabaseUrl(env),
    sqliteSync: choiceSetting(env, 'SVC_SQLITE_SYNC', ['full', 'normal']),
    wedgesDir: resolveWedgesDir(env, cwd),
    blueprintsDir: resolve(cwd, env.SVC_BLUEPRINTS_DIR ?? 'blueprints'),
    sandbox: choiceSetting(env, 'SVC_SANDBOX', ['auto', 'bwrap', 'process']),
    founderApiKey: founderKeySetting(env),
    openSignup: booleanSetting(env, 'SVC_OPEN_SIGNUP'),
    maxConcurrentTasks: integerSetting(env, 'SVC_MAX_CONCURRENT_TASKS', 8, 0),
    pool: integerSetting(env, 'SVC_POOL', 2, 0),
    maxRuntimeS: positiveSetting(env, 'SVC_MAX_RUNTIME_S', 1800),
    maxCostUsd: positiveSetting(env, 'SVC_MAX_COST_USD', 5),
    taskRatePerMin: integerSetting(env, 'SVC_TASK_RATE_PER_MIN', 120, 1),
    approvalTtlS: positiveSetting(env, 'SVC_APPROVAL_TTL_S', 300),
    readMaxPerTask: integerSetting(env, 'SVC_READ_MAX_PER_TASK', 200, 0),
    workflowTimeoutMs: integerSetting(env, 'SVC_WORKFLOW_TIMEOUT_MS', 5000, 1),
    sseKeepaliveMs: integerSetting(env, 'SVC_SSE_KEEPALIVE_MS', 0, 0),
    agentCommand: env.SVC_AGENT_COMMAND || null,
    agentDir: agentDirSetting(env, cwd),
    models: modelSettings(env),
    anthropicBaseUrl: urlSetting(env, 'ANTHROPIC_BASE_URL') ?? 'https://api.anthropic.com',
    openaiBaseUrl: urlSetting(env, 'OPENAI_BASE_URL') ?? 'https://api.openai.com/v1',
    brokerBaseUrl: urlSetting(env, 'BROKER_BASE_URL') ?? 'https://backend.composio.dev',
    egressAllow: parseList(env.SVC_EGRESS_ALLOW),
    // An empty list allows no name at all: somebody shut the door, and it must not spring open.
    envSecrets: given.SVC_ENV_SECRETS === undefined ? null : parseList(given.SVC_ENV_SECRETS),
    recordRehearsal: booleanSetting(env, 'SVC_RECORD_REHEARSAL'),
    retentionDays: env.SVC_RETENTION_DAYS ? positiveSetting(env, 'SVC_RETENTION_DAYS', 0) : null,
    logLevel: choiceSetting(env, 'SVC_LOG_LEVEL', ['info', 'debug', 'warn', 'error', 'silent']),
    metricsPort: env.SVC_METRICS_PORT ? integerSetting(env, 'SVC_METRICS_PORT', 0, 0, MAX_PORT) : null,
    metricsHost: env.SVC_METRICS_HOST ?? '127.0.0.1',
    otlp: readOtlpConfig(env),
  }
}

/**
 * What is empty is not set: `SVC_HOST=` in a file of variables means the default. Taken at its word, an empty host
 * opens the service to every network, and an empty folder is the one that it was started in.
 */
function withoutBlanks(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()))
}

const MAX_PORT = 65_535

function integerSetting(env: Env, name: string, fallback: number, least: number, most = Infinity): number {
  const value = env[name] ? Number(env[name]) : fallback
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new Error(
    `${name} must be a whole number ${most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`}`,
  )
}

function positiveSetting(env: Env, name: string, fallback: number): number {
  const value = env[name] ? Number(env[name]) : fallback
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${name} must be a positive number`)
  return value
}

/** The first choice is the default. */
function choiceSetting<const T extends string>(env: Env, name: string, choices: readonly [T, ...T[]]): T {
  const value = env[name] || choices[0]
  const found = choices.find((choice) => choice === value)
  if (!found) throw new Error(`${name} must be one of ${choices.join(', ')}`)
  return found
}

/** Anything but these two is a mistake: `true` would quietly mean no. */
function booleanSetting(env: Env, name: string): boolean {
  return choiceSetting(env, name, ['0', '1']) === '1'
}

function urlSetting(env: Env, name: string): string | undefined {
  const text = env[name]
  if (text !== undefined) parseHttpUrl(name, text)
  return text
}

/** Looked for at the start: without it every task would fail, one by one. */
function agentDirSetting({ SVC_AGENT_DIR: dir }: Env, cwd: string): string | null {
  if (!dir) return null
  const path = resolve(cwd, dir)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`SVC_AGENT_DIR is no folder: ${path}`)
  return path
}

function founderKeySetting(env: Env): string | null {
  const key = readSetting(env, 'SVC_FOUNDER_API_KEY')
  if (!key) return null
  if (!/^svc_key_[A-Za-z0-9_-]{20,}$/.test(key)) {
    throw new Error('SVC_FOUNDER_API_KEY must be svc_key_ and at least 20 letters or digits')
  }
  return key
}

function modelSettings(env: Env): Record<string, string> {
  const models: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    const tier = /^SVC_MODEL(?:_([A-Z0-9_]+))?$/.exec(name)
    if (!tier || !value) continue
    if (!/^(anthropic|openai)\/.+/.test(value)) throw new Error(`${name} must be anthropic/NAME or openai/NAME`)
    models[tier[1]?.toLowerCase() ?? 'default'] = value
  }
  return models
}

function parseList(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}
