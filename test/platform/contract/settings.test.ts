import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  describeUnknownSettings,
  KNOWN_SETTINGS,
  readSetting,
  SECRET_SETTINGS,
} from '../../../src/platform/contract/settings.ts'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { canReadEnv } from '../../../src/identity/vault/secret-ref.ts'
import { page } from '../../docs/pages.ts'

function fileWith(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-setting-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'secret'), text)
  return join(dir, 'secret')
}

test('a secret setting can come from a file, and the variable itself takes precedence', () => {
  const file = fileWith('postgres://svc@db/svc\n')
  expect(loadConfig({ DATABASE_URL_FILE: file }).databaseUrl).toBe('postgres://svc@db/svc')
  expect(loadConfig({ DATABASE_URL_FILE: file, DATABASE_URL: '' }).databaseUrl).toBe('postgres://svc@db/svc')
  expect(loadConfig({ DATABASE_URL_FILE: file, DATABASE_URL: 'postgres://other' }).databaseUrl).toBe('postgres://other')
})

test('a secret file that cannot be read stops the start', () => {
  for (const name of SECRET_SETTINGS) {
    expect(() => loadConfig({ [`${name}_FILE`]: '/nowhere/secret' })).toThrow(`${name}_FILE cannot be read`)
  }
})

test('only secret settings are read from files, and a connection may not refer to one of them', () => {
  expect(readSetting({ SSL_CERT_FILE: fileWith('pem') }, 'SSL_CERT')).toBeUndefined()
  expect([...SECRET_SETTINGS].filter((name) => canReadEnv(name, null))).toEqual([])
})

test.each(['desk.example', 'desk.example:8787', 'ftp://desk.example', 'https://'])(
  'SVC_PUBLIC_URL must be an http or https URL: %s stops the start',
  (url) => {
    expect(() => loadConfig({ SVC_PUBLIC_URL: url })).toThrow('SVC_PUBLIC_URL must be an http or https url')
  },
)

test('SVC_PUBLIC_URL is used unchanged, and is optional', () => {
  for (const url of ['https://desk.example', 'http://127.0.0.1:8787/', 'https://example.com/desk/'])
    expect(loadConfig({ SVC_PUBLIC_URL: url }).publicUrl).toBe(url)
  expect(loadConfig({ SVC_PUBLIC_URL: '' }).publicUrl).toBeNull()
})

test.each(['', ' '])('a setting with the value %j counts as not set', (blank) => {
  const names =
    'HOST PORT DATA_DIR WEDGES_DIR BLUEPRINTS_DIR AGENT_DIR LOG_LEVEL SANDBOX MAX_CONCURRENT_TASKS METRICS_HOST'
  const others = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL', 'BROKER_BASE_URL', 'DATABASE_URL']
  const all = [...names.split(' ').map((name) => `SVC_${name}`), ...others]
  expect(loadConfig(Object.fromEntries(all.map((name) => [name, blank])))).toEqual(loadConfig({}))
})

test('an empty SVC_ENV_SECRETS allows no variable, and an absent one allows all', () => {
  expect(loadConfig({ SVC_ENV_SECRETS: '' }).envSecrets).toEqual([])
  expect(loadConfig({}).envSecrets).toBeNull()
})

test.each([
  'proxy.example',
  '10.0.0.0/33',
  '10.0.0.0/0',
  '10.0.0.0/',
  '10.0.0.1/8/8',
  '::1/129',
  'loopback',
  'fe80::1%lo',
])('SVC_TRUSTED_PROXIES must list addresses or networks: %s stops the start', (proxy) => {
  const env = { SVC_TRUSTED_PROXIES: `127.0.0.1, ${proxy}` }
  expect(() => loadConfig(env)).toThrow(
    `SVC_TRUSTED_PROXIES must list IP addresses or networks, and '${proxy}' is neither`,
  )
})

test('SVC_TRUSTED_PROXIES is a list of addresses and networks, by default empty', () => {
  const named = { SVC_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,fd00::/8' }
  expect(loadConfig(named).trustedProxies).toEqual(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
  expect(loadConfig({}).trustedProxies).toEqual([])
})

test.each([
  [
    'mysql://root:hush@db/svc',
    'DATABASE_URL must be postgres://user:password@host:5432/name, not mysql://…: the store is',
  ],
  ['sqlite://svc.db', ', not sqlite://…: the store is PostgreSQL, or SQLite when it is not set'],
  ['svc:hush@db/svc', 'DATABASE_URL must be postgres://user:password@host:5432/name: the store is'],
  ['hush.db', 'DATABASE_URL must be'],
  ['postgres:/db/hush', 'DATABASE_URL must be'],
  ['postgres://svc:hush/hush@db/svc', 'DATABASE_URL cannot be read: in a name or password write @ as %40'],
  ['postgres://svc:hush@db:port/svc', 'DATABASE_URL cannot be read'],
])('the DATABASE_URL %j stops the start, and the error does not contain its password', (url, message) => {
  expect(() => loadConfig({ DATABASE_URL: url })).toThrow(message)
  expect(() => loadConfig({ DATABASE_URL: url })).not.toThrow('hush')
})

test.each([
  'postgres://u:p%2F@db:5432/svc',
  'postgresql://db/svc',
  'postgres://u@/svc?host=/run/postgresql',
  'postgres://',
])('the DATABASE_URL %s is used unchanged', (url) => {
  expect(loadConfig({ DATABASE_URL: url }).databaseUrl).toBe(url)
})

test.each([
  [{ SVC_LOG_LEVEL: 'loud' }, 'SVC_LOG_LEVEL must be one of info, debug, warn, error, silent'],
  [{ SVC_PORT: '65536' }, 'SVC_PORT must be a whole number from 0 to 65535'],
  [{ SVC_METRICS_PORT: '70000' }, 'SVC_METRICS_PORT must be a whole number from 0 to 65535'],
  [{ SVC_OPEN_SIGNUP: 'true' }, 'SVC_OPEN_SIGNUP must be one of 0, 1'],
  [{ SVC_RECORD_REHEARSAL: 'yes' }, 'SVC_RECORD_REHEARSAL must be one of 0, 1'],
  [{ SVC_AGENT_DIR: '/nowhere/agent' }, 'SVC_AGENT_DIR must be a folder: /nowhere/agent'],
  [{ SVC_POOL: '-1' }, 'SVC_POOL must be a whole number of at least 0'],
  [{ ANTHROPIC_BASE_URL: 'localhost:4000' }, 'ANTHROPIC_BASE_URL must be an http or https url'],
  [{ OPENAI_BASE_URL: 'models.example' }, 'OPENAI_BASE_URL must be an http or https url'],
  [{ BROKER_BASE_URL: 'ftp://broker.example' }, 'BROKER_BASE_URL must be an http or https url'],
])('the setting %j stops the start with an error that names it', (env, message) => {
  expect(() => loadConfig(env)).toThrow(message)
})

test('every setting is documented, and the docs name only known settings', () => {
  const docs = ['README.md', ...readdirSync('docs').map((file) => `docs/${file}`)].filter((file) =>
    file.endsWith('.md'),
  )
  const documented = new Set(docs.flatMap((file) => page(file).match(/\b(SVC|OTEL)_[A-Z0-9_]+\b/g) ?? []))
  documented.delete('SVC_')
  documented.delete('SVC_MODEL_')
  // The docs show the error for this misspelt name.
  documented.delete('SVC_PROT')
  // The service sets these for agents in the sandbox.
  for (const name of ['SVC_BASE_URL', 'SVC_MCP_URL']) expect(documented.delete(name)).toBe(true)
  expect([...documented].filter((name) => !KNOWN_SETTINGS.includes(name))).toEqual([])
  const undocumented = KNOWN_SETTINGS.filter(
    (name) => name.startsWith('SVC_') && !documented.has(name.replace(/_FILE$/, '')),
  )
  // Not documented, because only the `svc` script sets the first, and only tests set the second.
  expect(undocumented).toEqual(['SVC_CALLED_AS', 'SVC_LEASE_MS'])
})

test('an unknown SVC_ variable is reported, and a model may be set for any tier', () => {
  const env = Object.fromEntries([...KNOWN_SETTINGS, 'SVC_MODEL_GOLD', 'SVC_PROT'].map((name) => [name, '1']))
  expect(describeUnknownSettings(env)).toEqual([expect.stringContaining('SVC_PROT')])
})

const POSTGRES = { DATABASE_URL: 'postgres://svc@db/svc' }

test.each([
  [{ SVC_ROLE: 'api' }, 'SVC_ROLE=api requires PostgreSQL'],
  [{ SVC_ROLE: 'runner' }, 'SVC_ROLE=runner requires PostgreSQL'],
  [{ SVC_RUNNER_WEDGES: 'desk' }, 'SVC_RUNNER_WEDGES requires PostgreSQL'],
  [{ ...POSTGRES, SVC_ROLE: 'worker' }, 'SVC_ROLE must be one of all, api, runner'],
  [{ ...POSTGRES, SVC_ROLE: 'api', SVC_RUNNER_PROJECTS: 'prj_1' }, 'SVC_RUNNER_PROJECTS has no effect'],
  [{ ...POSTGRES, SVC_ROLE: 'runner', SVC_MAX_CONCURRENT_TASKS: '0' }, 'SVC_MAX_CONCURRENT_TASKS must be'],
  [{ ...POSTGRES, SVC_RUNNER_WEDGES: Array.from({ length: 201 }, (_, n) => `w${n}`).join() }, 'at most 200 pairs'],
])('a role that cannot work stops the start: %o', (env, message) => {
  expect(() => loadConfig(env)).toThrow(message)
})

test('an API replica runs no tasks, and only a replica with requests waits for a load balancer', () => {
  expect(loadConfig({ ...POSTGRES, SVC_ROLE: 'api' })).toMatchObject({ maxConcurrentTasks: 0, drainDelayS: 5 })
  const limits = { SVC_RUNNER_WEDGES: 'desk, echo,desk', SVC_RUNNER_PROJECTS: ' ' }
  expect(loadConfig({ ...POSTGRES, SVC_ROLE: 'runner', ...limits })).toMatchObject({
    maxConcurrentTasks: 8,
    drainDelayS: 0,
    runnerWedges: ['desk', 'echo'],
    runnerProjects: null,
  })
})
