import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SECRET_SETTINGS } from '../../src/platform/contract/settings.ts'
import { loadConfig } from '../../src/platform/config/config.ts'
import { parseSecretKey } from '../../src/identity/vault/vault.ts'
import { testApp } from '../app.ts'
import { page, ROOT } from '../docs/pages.ts'

const dockerfile = page('Dockerfile').replaceAll('\\\n', ' ')
const compose = page('compose.yaml')
const unit = page('deploy/svc.service')

describe('the Dockerfile', () => {
  test('copies only existing files that .dockerignore includes', () => {
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, words = '']) =>
      words.split(' '),
    )
    expect(sources.length).toBeGreaterThan(8)
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const included = [...page('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path = '']) => path)
    expect(included.toSorted()).toEqual([...new Set(sources)].toSorted())
  })

  test('has a health check that succeeds while the service runs and fails afterwards', async () => {
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

  test('installs the packages of agents that the build argument of the guide names, and none by default', () => {
    const [, byDefault] = /^ARG AGENT_PACKAGES="(.*)"$/m.exec(dockerfile) ?? []
    const [, named = ''] = /--build-arg AGENT_PACKAGES="([^"]+)"/.exec(page('docs/operations.md')) ?? []
    const [, install = ''] = /^RUN .*&& (apt-get install .*?) +&&/m.exec(dockerfile) ?? []
    const packagesWith = (AGENT_PACKAGES: string) =>
      execFileSync('sh', ['-c', `list() { printf '%s ' "$@"; }; ${install.replace('apt-get', 'list')}`], {
        encoding: 'utf8',
        env: { AGENT_PACKAGES },
      })
        .split(' ')
        .filter((word) => /^\w/.test(word))
    expect(byDefault).toBe('')
    expect(packagesWith('')).toEqual(['install', 'bubblewrap', 'tini'])
    expect(packagesWith(named)).toEqual(['install', 'bubblewrap', 'tini', 'python3', 'python3-venv'])
  })

  test('runs the service as an unprivileged user with a sandbox', () => {
    expect(dockerfile).toMatch(/^USER node$/m)
    expect(dockerfile).toContain('SVC_SANDBOX=bwrap')
    expect(dockerfile).toMatch(/^ENTRYPOINT \["tini", "--", "svc"\]$/m)
  })
})

/** The names of all settings that the source code of the configuration contains. */
function knownSettings(): Set<string> {
  const names = new Set<string>(['NODE_ENV', 'SVC_MODEL'])
  const sources = readdirSync(join(ROOT, 'src/platform/config')).map((file) => page(`src/platform/config/${file}`))
  for (const [name] of [...sources, page('src/platform/contract/settings.ts')]
    .join('\n')
    .matchAll(/\b[A-Z]+(_[A-Z0-9]+)+\b/g))
    names.add(name)
  for (const name of SECRET_SETTINGS) names.add(`${name}_FILE`)
  return names
}

test.each([
  ['Dockerfile', [...(/^ENV (.+)$/m.exec(dockerfile)?.[1] ?? '').matchAll(/([A-Z_]+)=/g)]],
  ['compose.yaml', [...compose.matchAll(/^ {6}- ([A-Z0-9_]+)(?:=.*)?$/gm)]],
  ['deploy/svc.service', [...unit.matchAll(/^Environment=([A-Z_]+)=/gm)]],
])('%s contains only settings that the service knows', (_, found) => {
  const names = found.map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(3)
  const known = knownSettings()
  expect(names.filter((name) => !known.has(name))).toEqual([])
})

/** Settings that the compose file does not take from the shell, by the reason. */
const NOT_PASSED: Record<string, string[]> = {
  'set by the image, the compose file or its volumes': [
    'SVC_HOST',
    'SVC_PORT',
    'SVC_DATA_DIR',
    'SVC_WEDGES_DIR',
    'SVC_BLUEPRINTS_DIR',
    'SVC_SANDBOX',
    'SVC_METRICS_PORT',
    'SVC_METRICS_HOST',
  ],
  'secrets, which come from files': [...SECRET_SETTINGS],
  'only for one run of a command': ['SVC_SECRET_KEY_OLD', 'SVC_URL', 'SVC_KEY'],
  'only with SQLite': ['SVC_SQLITE_SYNC'],
}

test('compose.yaml passes every setting on that docs/settings.md lists', () => {
  const rows = [...page('docs/settings.md').matchAll(/^\| (`.+?) \|/gm)].map(([, cell = '']) => cell)
  const listed = rows.flatMap((cell) => [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']) => name))
  expect(listed.length).toBeGreaterThan(60)
  const passed = [...compose.matchAll(/^ {6}- ([A-Z0-9_]+)$/gm)].map(([, name = '']) => name)
  const others = Object.values(NOT_PASSED).flat()
  expect(listed.filter((name) => !others.includes(name)).toSorted()).toEqual(passed.toSorted())
})

describe('the secrets of the compose file', () => {
  const declared = [...compose.matchAll(/^ {2}(\w+): \{ file: secrets\/(\w+) \}$/gm)].map(([, name, file]) => {
    expect(file).toBe(name)
    return name ?? ''
  })

  test('are declared, mounted and used, each as a file', () => {
    const used = [...compose.matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name = '']) => name)
    expect(used.toSorted()).toEqual(declared.toSorted())
    const mounted = [...compose.matchAll(/^ {4}secrets: \[(.+)\]$/gm)].flatMap(([, names = '']) => names.split(', '))
    expect(mounted.toSorted()).toEqual(declared.toSorted())
  })

  test('are created once, in the format that the service expects, in a folder with mode 0700', () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-secrets-'))
    onTestFinished(() => rmSync(dir, { recursive: true }))
    mkdirSync(join(dir, 'deploy'))
    copyFileSync(join(ROOT, 'deploy/make-secrets.sh'), join(dir, 'deploy/make-secrets.sh'))
    const make = () => execFileSync('sh', [join(dir, 'deploy/make-secrets.sh')], { encoding: 'utf8' })
    const read = () => declared.map((name) => readFileSync(join(dir, 'secrets', name), 'utf8'))
    const output = make()
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
    expect(output).not.toContain(password)
  })
})

describe('the systemd unit', () => {
  const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))

  test('starts the program of the package', () => {
    expect(settings.get('ExecStart')).toContain(`/${JSON.parse(page('package.json')).bin.svc} serve`)
  })

  test('does not restrict what a sandbox needs', () => {
    const forbidden = ['RestrictNamespaces', 'PrivateUsers', 'ProtectHostname', 'ProtectProc', 'ProcSubset']
    const alsoForbidden = ['ProtectKernelTunables', 'ProtectKernelLogs', 'MemoryDenyWriteExecute']
    expect([...forbidden, ...alsoForbidden].filter((name) => settings.has(name))).toEqual([])
    expect(settings.get('RestrictAddressFamilies')).toContain('AF_NETLINK')
  })

  test.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)('is valid for systemd', () => {
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(ROOT, 'deploy/svc.service')], {
      encoding: 'utf8',
    })
    // Other messages are ignored, because the program and the user need not exist on this machine.
    const problems = stderr.split('\n').filter((line) => /Unknown|Failed to parse|ignoring/.test(line))
    expect(problems).toEqual([])
  })
})
