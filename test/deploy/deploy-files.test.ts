import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SECRET_SETTINGS } from '../../src/contract/settings.ts'
import { loadConfig } from '../../src/config/config.ts'
import { parseSecretKey } from '../../src/vault/vault.ts'
import { testApp } from '../app.ts'
import { page, ROOT } from '../docs/pages.ts'

const dockerfile = page('Dockerfile').replaceAll('\\\n', ' ')
const compose = page('compose.yaml')
const unit = page('deploy/svc.service')

describe('the image', () => {
  test('copies only what is there and what .dockerignore lets through', () => {
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, words = '']) =>
      words.split(' '),
    )
    expect(sources.length).toBeGreaterThan(8)
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const passed = [...page('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path = '']) => path)
    expect(passed.toSorted()).toEqual([...new Set(sources)].toSorted())
  })

  test('is healthy while the service is, and only then', async () => {
    const app = await testApp({ store: 'sqlite' })
    const [, words = '[]'] = /HEALTHCHECK.*CMD (\[.*\])/.exec(dockerfile) ?? []
    const [program = '', ...rest]: string[] = JSON.parse(words)
    const check = async () => {
      const child = spawn(program, rest, { env: { ...process.env, SVC_PORT: new URL(app.url).port } })
      return (await once(child, 'exit'))[0]
    }
    expect(await check()).toBe(0)
    await app.stop()
    expect(await check()).toBe(1)
  })

  test('runs as an ordinary user, and not at all without a sandbox', () => {
    expect(dockerfile).toMatch(/^USER node$/m)
    expect(dockerfile).toContain('SVC_SANDBOX=bwrap')
    expect(dockerfile).toMatch(/^ENTRYPOINT \["tini", "--", "svc"\]$/m)
  })
})

/** What the service asks its environment for, by the names that stand where settings are read. */
function knownSettings(): Set<string> {
  const asked = new Set<string>(['NODE_ENV', 'SVC_MODEL'])
  const sources = readdirSync(join(ROOT, 'src/config')).map((file) => page(`src/config/${file}`))
  for (const [name] of [...sources, page('src/contract/settings.ts')].join('\n').matchAll(/\b[A-Z]+(_[A-Z]+)+\b/g))
    asked.add(name)
  for (const name of SECRET_SETTINGS) asked.add(`${name}_FILE`)
  return asked
}

test.each([
  ['Dockerfile', [...(/^ENV (.+)$/m.exec(dockerfile)?.[1] ?? '').matchAll(/([A-Z_]+)=/g)]],
  ['compose.yaml', [...compose.matchAll(/^ {6}- ([A-Z_]+)(?:=.*)?$/gm)]],
  ['deploy/svc.service', [...unit.matchAll(/^Environment=([A-Z_]+)=/gm)]],
])('%s sets only what the service knows', (_, found) => {
  const names = found.map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(3)
  const known = knownSettings()
  expect(names.filter((name) => !known.has(name))).toEqual([])
})

describe('the secrets of the compose file', () => {
  const declared = [...compose.matchAll(/^ {2}(\w+): \{ file: secrets\/(\w+) \}$/gm)].map(([, name, file]) => {
    expect(file).toBe(name)
    return name ?? ''
  })

  test('are files, each used and each declared', () => {
    const used = [...compose.matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name = '']) => name)
    expect(used.toSorted()).toEqual(declared.toSorted())
    const mounted = [...compose.matchAll(/^ {4}secrets: \[(.+)\]$/gm)].flatMap(([, names = '']) => names.split(', '))
    expect(mounted.toSorted()).toEqual(declared.toSorted())
  })

  test('are made once, as the service wants them, in a folder that is closed to others', () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-secrets-'))
    onTestFinished(() => rmSync(dir, { recursive: true }))
    mkdirSync(join(dir, 'deploy'))
    copyFileSync(join(ROOT, 'deploy/make-secrets.sh'), join(dir, 'deploy/make-secrets.sh'))
    const make = () => execFileSync('sh', [join(dir, 'deploy/make-secrets.sh')], { encoding: 'utf8' })
    const read = () => declared.map((name) => readFileSync(join(dir, 'secrets', name), 'utf8'))
    const said = make()
    const secrets = read()
    make()
    expect(read()).toEqual(secrets)
    expect(statSync(join(dir, 'secrets')).mode & 0o777).toBe(0o700)
    const file = (name: string) => join(dir, 'secrets', name)
    const env = { DATABASE_URL_FILE: file('database_url'), SVC_FOUNDER_API_KEY_FILE: file('founder_api_key') }
    const password = readFileSync(file('postgres_password'), 'utf8').trim()
    expect(loadConfig(env).databaseUrl).toBe(`postgres://svc:${password}@postgres:5432/svc`)
    expect(loadConfig(env).founderApiKey).toMatch(/^svc_key_/)
    expect(parseSecretKey(readFileSync(file('secret_key'), 'utf8'), 'secret_key')).toHaveLength(32)
    expect(said).not.toContain(password)
  })
})

describe('the service unit', () => {
  const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))

  test('starts the program that is shipped', () => {
    expect(settings.get('ExecStart')).toContain(`/${JSON.parse(page('package.json')).bin.svc} serve`)
  })

  test('leaves open what a sandbox needs', () => {
    const shut = ['RestrictNamespaces', 'PrivateUsers', 'ProtectHostname', 'ProtectProc', 'ProcSubset']
    const alsoShut = ['ProtectKernelTunables', 'ProtectKernelLogs', 'MemoryDenyWriteExecute']
    expect([...shut, ...alsoShut].filter((name) => settings.has(name))).toEqual([])
    expect(settings.get('RestrictAddressFamilies')).toContain('AF_NETLINK')
  })

  test.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)('is understood by systemd', () => {
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(ROOT, 'deploy/svc.service')], {
      encoding: 'utf8',
    })
    // Neither the program nor the user need be on this machine.
    const complaints = stderr.split('\n').filter((line) => /Unknown|Failed to parse|ignoring/.test(line))
    expect(complaints).toEqual([])
  })
})
