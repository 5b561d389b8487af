import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { isFounderKey } from '../base/tokens.ts'
import { readDatabaseUrl } from '../contract/database-url.ts'
import { DEFAULT_AGENT_MAX_MEMORY_MB } from '../contract/wedge/declared-agents.ts'
import { DEFAULT_APPROVAL_TTL_MAX_S, DEFAULT_REPLY_TTL_S } from '../contract/wedge/declared-approvals.ts'
import {
  readSetting,
  resolveBlueprintsDir,
  resolveDataDir,
  resolveWedgesDir,
  SECRET_SETTINGS,
  type SettingName,
  type SettingsEnv,
} from '../contract/settings.ts'
import { choiceSetting, integerSetting, parseHttpUrl, parseList } from './read-setting.ts'
import { readModelSettings, readPriceFile, type SetPrice } from './model-settings.ts'
import { type OtlpConfig, readOtlpConfig } from './otlp-config.ts'
import { readRoleSettings, type RoleSettings, servesApi } from './role-settings.ts'
import { readS3Config, type S3Config } from './s3-config.ts'

/** The settings of the deployment, read once at start. Secrets are not here: `world.env` reads each where it is used. */
export interface Config extends RoleSettings {
  host: string
  port: number
  /** The port that the system chose because `port` is 0; absent until the server listens. */
  chosenPort?: number
  /** The address of the service for links in messages and portal links. */
  publicUrl: string | null
  /** IP addresses and networks of proxies whose X-Forwarded-For header is believed. */
  trustedProxies: string[]
  /** The origins of other sites whose pages may call the API. */
  corsOrigins: string[]
  /** Connections from one address that have not sent a valid credential yet; 0: no limit. */
  maxConnectionsPerAddress: number
  dataDir: string
  databaseUrl: string | null
  /** How long requests wait and runs go on while PostgreSQL does not respond. */
  databaseWaitS: number
  /**
   * A replica without a heartbeat for this long has lost its tasks; `execution/runs/replicas/dead-replicas.ts` ends them. Equal
   * on all replicas; only tests set it.
   */
  leaseMs: number
  sqliteSync: 'full' | 'normal'
  wedgesDir: string
  blueprintsDir: string
  sandbox: 'auto' | 'bwrap' | 'runsc' | 'process'
  founderApiKey: string | null
  openSignup: boolean
  /** Runs of one project that may wait for approvals in cells of their own, per replica. */
  maxWaitingRuns: number
  pool: number
  /** How long a stopping replica still answers requests after its health says 503. */
  drainDelayS: number
  /** How long a run waits for a person in its cell before it leaves it. */
  parkAfterS: number
  maxRuntimeS: number
  maxCostUsd: number
  taskRatePerMin: number
  /** Messages of one sender, and of the unknown senders of one mail domain, that start tasks within an hour. */
  senderRatePerHour: number
  domainRatePerHour: number
  /** What one run, or one project, may store as records, events and files; 0: no limit. */
  maxRunMb: number
  maxProjectMb: number
  /** What the files of one client may take; 0: no limit. */
  maxClientMb: number
  /** The limit for one uploaded file. */
  fileMaxMb: number
  /** The object store for files; null: they are in the database. */
  s3: S3Config | null
  /** How long an approval waits for a decision, unless its wedge says so; at most `approvalTtlMaxS`. */
  approvalTtlS: number
  /** The same for a reply or a question to a client, who must not lose the answer because everyone sleeps. */
  replyTtlS: number
  approvalTtlMaxS: number
  readMaxPerTask: number
  workflowTimeoutMs: number
  sseKeepaliveMs: number
  agentCommand: string | null
  agentDir: string | null
  /** The most memory that a wedge may declare for its agent. */
  agentMaxMemoryMb: number
  /** `provider/name` by tier, the preferred model first; `default` is for every other tier. */
  models: Record<string, string[]>
  /** The most tokens that an answer of a model may have; null: the default of the provider's format. */
  modelMaxTokens: number | null
  /** How long a model may send nothing; null: the default of the proxy. */
  modelTimeoutMs: number | null
  /** The prices that the operator set, by model. */
  modelPrices: Record<string, SetPrice>
  anthropicBaseUrl: string
  openaiBaseUrl: string
  brokerBaseUrl: string
  egressAllow: string[]
  envSecrets: string[] | null
  recordRehearsal: boolean
  /** Logs and files of tasks that ended longer ago are deleted; null: they are kept. */
  retentionDays: number | null
  /** Tasks that ended longer ago are deleted; null: they are kept. */
  taskRetentionDays: number | null
  logLevel: string
  /** The port of the Prometheus metrics; null: there is none. */
  metricsPort: number | null
  metricsHost: string
  /** The OpenTelemetry collector for traces of finished tasks; null: none are sent. */
  otlp: OtlpConfig | null
}

type Variables = Record<string, string | undefined>

export function loadConfig(given: Variables, cwd = process.cwd()): Config {
  const variables = withoutBlanks(given)
  const env: SettingsEnv = variables
  // Fail at start, not at first use, when the file of a secret cannot be read.
  for (const name of SECRET_SETTINGS) readSetting(variables, name)
  const role = readRoleSettings(env)
  return {
    host: env.SVC_HOST ?? '127.0.0.1',
    port: integerSetting(env, 'SVC_PORT', 8787, 0, MAX_PORT),
    publicUrl: urlSetting(env, 'SVC_PUBLIC_URL') ?? null,
    trustedProxies: checkTrustedProxies(parseList(env.SVC_TRUSTED_PROXIES)),
    corsOrigins: originSettings(env),
    maxConnectionsPerAddress: integerSetting(env, 'SVC_MAX_CONNECTIONS_PER_ADDRESS', 1000, 0),
    dataDir: resolveDataDir(env, cwd),
    databaseUrl: readDatabaseUrl(env),
    databaseWaitS: integerSetting(env, 'SVC_DATABASE_WAIT_S', 30, 0),
    leaseMs: integerSetting(env, 'SVC_LEASE_MS', 10_000, 1_000),
    sqliteSync: choiceSetting(env, 'SVC_SQLITE_SYNC', ['full', 'normal']),
    wedgesDir: resolveWedgesDir(env, cwd),
    blueprintsDir: resolveBlueprintsDir(env, cwd),
    sandbox: choiceSetting(env, 'SVC_SANDBOX', ['auto', 'bwrap', 'runsc', 'process']),
    founderApiKey: founderKeySetting(env),
    openSignup: booleanSetting(env, 'SVC_OPEN_SIGNUP'),
    ...role,
    maxWaitingRuns: integerSetting(env, 'SVC_MAX_WAITING_RUNS', 64, 1),
    // No load balancer sends requests to a runner.
    drainDelayS: integerSetting(env, 'SVC_DRAIN_DELAY_S', readDatabaseUrl(env) && servesApi(role) ? 5 : 0, 0),
    parkAfterS: integerSetting(env, 'SVC_PARK_AFTER_S', 10, 0),
    pool: integerSetting(env, 'SVC_POOL', 2, 0),
    maxRuntimeS: positiveSetting(env, 'SVC_MAX_RUNTIME_S', 1800),
    maxCostUsd: positiveSetting(env, 'SVC_MAX_COST_USD', 5),
    taskRatePerMin: integerSetting(env, 'SVC_TASK_RATE_PER_MIN', 120, 1),
    senderRatePerHour: integerSetting(env, 'SVC_SENDER_RATE_PER_HOUR', 60, 1),
    domainRatePerHour: integerSetting(env, 'SVC_DOMAIN_RATE_PER_HOUR', 600, 1),
    maxRunMb: integerSetting(env, 'SVC_MAX_RUN_MB', 256, 0),
    maxProjectMb: integerSetting(env, 'SVC_MAX_PROJECT_MB', 10_240, 0),
    maxClientMb: integerSetting(env, 'SVC_MAX_CLIENT_MB', 1024, 0),
    fileMaxMb: integerSetting(env, 'SVC_FILE_MAX_MB', 100, 1, MAX_S3_FILE_MB),
    s3: readS3Config(variables),
    ...approvalTtlSettings(env),
    readMaxPerTask: integerSetting(env, 'SVC_READ_MAX_PER_TASK', 200, 0),
    workflowTimeoutMs: integerSetting(env, 'SVC_WORKFLOW_TIMEOUT_MS', 5000, 1),
    sseKeepaliveMs: integerSetting(env, 'SVC_SSE_KEEPALIVE_MS', 0, 0),
    agentCommand: env.SVC_AGENT_COMMAND || null,
    agentDir: agentDirSetting(env, cwd),
    agentMaxMemoryMb: integerSetting(env, 'SVC_AGENT_MAX_MEMORY_MB', DEFAULT_AGENT_MAX_MEMORY_MB, 256),
    models: readModelSettings(variables),
    modelMaxTokens: env.SVC_MODEL_MAX_TOKENS ? integerSetting(env, 'SVC_MODEL_MAX_TOKENS', 0, 1) : null,
    modelTimeoutMs: env.SVC_MODEL_TIMEOUT_S ? positiveSetting(env, 'SVC_MODEL_TIMEOUT_S', 0) * 1000 : null,
    modelPrices: readPriceFile(env.SVC_PRICES && resolve(cwd, env.SVC_PRICES)),
    anthropicBaseUrl: urlSetting(env, 'ANTHROPIC_BASE_URL') ?? 'https://api.anthropic.com',
    openaiBaseUrl: urlSetting(env, 'OPENAI_BASE_URL') ?? 'https://api.openai.com/v1',
    brokerBaseUrl: urlSetting(env, 'BROKER_BASE_URL') ?? 'https://backend.composio.dev',
    egressAllow: parseList(env.SVC_EGRESS_ALLOW),
    // An empty list allows no name, whereas an absent setting allows all of them.
    envSecrets: given.SVC_ENV_SECRETS === undefined ? null : parseList(given.SVC_ENV_SECRETS),
    recordRehearsal: booleanSetting(env, 'SVC_RECORD_REHEARSAL'),
    ...retentionSettings(env),
    logLevel: choiceSetting(env, 'SVC_LOG_LEVEL', ['info', 'debug', 'warn', 'error', 'silent']),
    ...metricsSettings(env),
    otlp: readOtlpConfig(env),
  }
}

/**
 * An empty value counts as not set: `SVC_HOST=` in a file of variables means the default. Otherwise an empty host would
 * open the service to every network, and an empty folder would be the working directory.
 */
function withoutBlanks(env: Variables): Variables {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()))
}

const metricsSettings = (env: SettingsEnv) => ({
  metricsPort: env.SVC_METRICS_PORT ? integerSetting(env, 'SVC_METRICS_PORT', 0, 0, MAX_PORT) : null,
  metricsHost: env.SVC_METRICS_HOST ?? '127.0.0.1',
})

const MAX_PORT = 65_535
/** An upload to S3 has at most 10,000 parts of 8 MiB. */
const MAX_S3_FILE_MB = 80_000

function positiveSetting(env: SettingsEnv, name: SettingName, fallback: number): number {
  const value = env[name] ? Number(env[name]) : fallback
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${name} must be a positive number`)
  return value
}

/** Only 0 and 1 are allowed, because `true` would otherwise silently mean no. */
function booleanSetting(env: SettingsEnv, name: SettingName): boolean {
  return choiceSetting(env, name, ['0', '1']) === '1'
}

function urlSetting(env: SettingsEnv, name: SettingName): string | undefined {
  const text = env[name]
  if (text !== undefined) parseHttpUrl(name, text)
  return text
}

function originSettings(env: SettingsEnv): string[] {
  const origins = parseList(env.SVC_CORS_ORIGINS)
  for (const origin of origins) {
    if (parseHttpUrl('SVC_CORS_ORIGINS', origin).origin !== origin)
      throw new Error(`SVC_CORS_ORIGINS must list origins such as https://app.example.com, not '${origin}'`)
  }
  return origins
}

/** The log of a task goes no later than the task. */
function retentionSettings(env: SettingsEnv): Pick<Config, 'retentionDays' | 'taskRetentionDays'> {
  const logDays = env.SVC_RETENTION_DAYS ? positiveSetting(env, 'SVC_RETENTION_DAYS', 0) : null
  // An idempotency key refers to its task for a day.
  const taskDays = env.SVC_TASK_RETENTION_DAYS ? integerSetting(env, 'SVC_TASK_RETENTION_DAYS', 0, 1) : null
  return {
    retentionDays: taskDays === null ? logDays : Math.min(logDays ?? taskDays, taskDays),
    taskRetentionDays: taskDays,
  }
}

function approvalTtlSettings(env: SettingsEnv): Pick<Config, 'approvalTtlS' | 'replyTtlS' | 'approvalTtlMaxS'> {
  const approvalTtlS = positiveSetting(env, 'SVC_APPROVAL_TTL_S', 300)
  const approvalTtlMaxS = integerSetting(env, 'SVC_APPROVAL_TTL_MAX_S', DEFAULT_APPROVAL_TTL_MAX_S, 1)
  const replyTtlS = env.SVC_APPROVAL_TTL_S ? approvalTtlS : Math.min(DEFAULT_REPLY_TTL_S, approvalTtlMaxS)
  if (approvalTtlS <= approvalTtlMaxS) return { approvalTtlS, replyTtlS, approvalTtlMaxS }
  throw new Error(`SVC_APPROVAL_TTL_S must be at most SVC_APPROVAL_TTL_MAX_S (${approvalTtlMaxS})`)
}

/** Checked at start: without the folder every task would fail. */
function agentDirSetting({ SVC_AGENT_DIR: dir }: SettingsEnv, cwd: string): string | null {
  if (!dir) return null
  const path = resolve(cwd, dir)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`SVC_AGENT_DIR must be a folder: ${path}`)
  return path
}

function founderKeySetting(env: SettingsEnv): string | null {
  const key = readSetting(env, 'SVC_FOUNDER_API_KEY')
  if (!key) return null
  if (!isFounderKey(key)) throw new Error('SVC_FOUNDER_API_KEY must be svc_key_ and at least 20 letters or digits')
  return key
}

/** Refuses, at start, entries that would trust no address, or every address (a network of 0 bits). */
function checkTrustedProxies(names: string[]): string[] {
  const bad = names.find((name) => !isNetwork(name))
  if (bad === undefined) return names
  throw new Error(`SVC_TRUSTED_PROXIES must list IP addresses or networks, and '${bad}' is neither`)
}

function isNetwork(name: string): boolean {
  const [address = '', bits, ...more] = name.split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}
