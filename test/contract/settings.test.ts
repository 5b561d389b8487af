import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SECRET_SETTINGS, readSetting } from '../../src/contract/settings.ts'
import { describeUnknownSettings } from '../../src/cli/doctor/unknown-settings.ts'
import { loadConfig } from '../../src/config/config.ts'
import { canReadEnv } from '../../src/vault/secret-ref.ts'
import { page } from '../docs/pages.ts'

function fileWith(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-setting-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'secret'), text)
  return join(dir, 'secret')
}

test('a secret may lie in a file, and the environment goes before it', () => {
  const file = fileWith('postgres://svc@db/svc\n')
  expect(loadConfig({ DATABASE_URL_FILE: file }).databaseUrl).toBe('postgres://svc@db/svc')
  expect(loadConfig({ DATABASE_URL_FILE: file, DATABASE_URL: '' }).databaseUrl).toBe('postgres://svc@db/svc')
  expect(loadConfig({ DATABASE_URL_FILE: file, DATABASE_URL: 'postgres://other' }).databaseUrl).toBe('postgres://other')
})

test('a file that cannot be read stops the start', () => {
  for (const name of SECRET_SETTINGS) {
    expect(() => loadConfig({ [`${name}_FILE`]: '/nowhere/secret' })).toThrow(`${name}_FILE cannot be read`)
  }
})

test('no other setting is read from a file, and no connection may name one of these', () => {
  expect(readSetting({ SSL_CERT_FILE: fileWith('pem') }, 'SSL_CERT')).toBeUndefined()
  expect([...SECRET_SETTINGS].filter((name) => canReadEnv(name, null))).toEqual([])
})

test.each(['desk.example', 'desk.example:8787', 'ftp://desk.example', 'https://'])(
  'a public url that no browser could open stops the start: %s',
  (url) => {
    expect(() => loadConfig({ SVC_PUBLIC_URL: url })).toThrow('SVC_PUBLIC_URL must be an http or https url')
  },
)

test('a public url is taken as it is, and may be left out', () => {
  for (const url of ['https://desk.example', 'http://127.0.0.1:8787/', 'https://example.com/desk/'])
    expect(loadConfig({ SVC_PUBLIC_URL: url }).publicUrl).toBe(url)
  expect(loadConfig({ SVC_PUBLIC_URL: '' }).publicUrl).toBeNull()
})

test.each(['', ' '])('a setting that is empty is not set: %j', (blank) => {
  const names = 'HOST PORT DATA_DIR WEDGES_DIR BLUEPRINTS_DIR AGENT_DIR LOG_LEVEL MAX_CONCURRENT_TASKS METRICS_HOST'
  const ours = [...names.split(' ').map((name) => `SVC_${name}`), 'OPENAI_BASE_URL', 'BROKER_BASE_URL', 'DATABASE_URL']
  expect(loadConfig(Object.fromEntries(ours.map((name) => [name, blank])))).toEqual(loadConfig({}))
})

test('an empty list of names for secrets stays a list: it allows none', () => {
  expect(loadConfig({ SVC_ENV_SECRETS: '' }).envSecrets).toEqual([])
  expect(loadConfig({}).envSecrets).toBeNull()
})

test.each([
  ['SVC_PORT', '65536'],
  ['SVC_METRICS_PORT', '70000'],
  ['SVC_LOG_LEVEL', 'loud'],
  ['SVC_OPEN_SIGNUP', 'true'],
  ['SVC_RECORD_REHEARSAL', 'yes'],
  ['OPENAI_BASE_URL', 'localhost:11434/v1'],
  ['ANTHROPIC_BASE_URL', 'models.example'],
  ['BROKER_BASE_URL', 'broker.example'],
  ['SVC_AGENT_DIR', '/nowhere/agent'],
])('a start that a setting stops names it: %s=%s', (name, value) => {
  expect(() => loadConfig({ [name]: value })).toThrow(name)
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
])('a trusted proxy that is neither an address nor a network stops the start: %s', (proxy) => {
  const env = { SVC_TRUSTED_PROXIES: `127.0.0.1, ${proxy}` }
  expect(() => loadConfig(env)).toThrow(`SVC_TRUSTED_PROXIES must be addresses or networks, unlike '${proxy}'`)
})

test('trusted proxies are addresses and networks, and none unless they are named', () => {
  const named = { SVC_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,fd00::/8' }
  expect(loadConfig(named).trustedProxies).toEqual(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
  expect(loadConfig({}).trustedProxies).toEqual([])
})

test.each([
  [
    'mysql://root:hush@db/svc',
    'DATABASE_URL must be postgres://user:password@host:5432/name, not mysql://…: the store is',
  ],
  ['sqlite://svc.db', ', not sqlite://…: the store is PostgreSQL, or SQLite where it is not set'],
  ['svc:hush@db/svc', 'DATABASE_URL must be postgres://user:password@host:5432/name: the store is'],
  ['hush.db', 'DATABASE_URL must be'],
  ['postgres:/db/hush', 'DATABASE_URL must be'],
  ['postgres://svc:hush/hush@db/svc', 'DATABASE_URL cannot be read: in a name or password write @ as %40'],
  ['postgres://svc:hush@db:port/svc', 'DATABASE_URL cannot be read'],
])('a database that cannot be the store stops the start, and is not repeated: %j', (url, message) => {
  expect(() => loadConfig({ DATABASE_URL: url })).toThrow(message)
  expect(() => loadConfig({ DATABASE_URL: url })).not.toThrow('hush')
})

test.each([
  'postgres://u:p%2F@db:5432/svc',
  'postgresql://db/svc',
  'postgres://u@/svc?host=/run/postgresql',
  'postgres://',
])('an address of PostgreSQL is taken as it is: %s', (url) => {
  expect(loadConfig({ DATABASE_URL: url }).databaseUrl).toBe(url)
})

test.each([
  [{ SVC_LOG_LEVEL: 'loud' }, 'SVC_LOG_LEVEL must be one of info, debug, warn, error, silent'],
  [{ SVC_PORT: '65536' }, 'SVC_PORT must be a whole number from 0 to 65535'],
  [{ SVC_METRICS_PORT: '70000' }, 'SVC_METRICS_PORT must be a whole number from 0 to 65535'],
  [{ SVC_POOL: '-1' }, 'SVC_POOL must be a whole number of at least 0'],
  [{ ANTHROPIC_BASE_URL: 'localhost:4000' }, 'ANTHROPIC_BASE_URL must be an http or https url'],
  [{ OPENAI_BASE_URL: 'models.example' }, 'OPENAI_BASE_URL must be an http or https url'],
  [{ BROKER_BASE_URL: 'ftp://broker.example' }, 'BROKER_BASE_URL must be an http or https url'],
])('a setting that cannot be stops the start, in our words: %j', (env, message) => {
  expect(() => loadConfig(env)).toThrow(message)
})

test('what is set to nothing is not set', () => {
  const names = ['HOST', 'PORT', 'DATA_DIR', 'WEDGES_DIR', 'BLUEPRINTS_DIR', 'LOG_LEVEL', 'SANDBOX'].map(
    (name) => `SVC_${name}`,
  )
  const all = [...names, 'DATABASE_URL', 'ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL', 'BROKER_BASE_URL']
  expect(loadConfig(Object.fromEntries(all.map((name) => [name, ''])))).toEqual(loadConfig({}))
})

test('what the README and the sources name is a setting, and a model may be set for any tier', () => {
  const sources = ['README.md', 'src/config/config.ts', 'src/config/otlp-config.ts', 'src/contract/settings.ts']
    .map(page)
    .join()
  const named = [...sources.matchAll(/\bSVC_[A-Z_]+\b/g)].map(([name]) => name)
  expect(named).toEqual(expect.arrayContaining(['SVC_POOL', 'SVC_SECRET_KEY_FILE', 'SVC_WORKFLOW_TIMEOUT_MS']))
  const env = Object.fromEntries([...named, 'SVC_MODEL_GOLD'].map((name) => [name, '1']))
  expect(describeUnknownSettings(env)).toEqual([])
})
