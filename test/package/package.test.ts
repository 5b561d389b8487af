import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { licenses } from '../../scripts/licenses.mjs'
import { runSvc } from '../programs/cli/run-svc.ts'
import { linkedFiles, page, ROOT } from '../docs/pages.ts'
import { packAndInstall, readUntil } from './installed-package.ts'

const packed = packAndInstall()
const { folder, installed, program } = packed
afterAll(packed.remove)

test('the package contains only programs, documentation, wedges, blueprints, presets and the Python client', () => {
  const expected = [
    /^dist\/(svc\.mjs|service\.cjs|table-descriptions\.json)$/,
    /^dist\/(harness|workflow-cell|program-setup|smtp-client|imap-client|mcp-client|parse-yaml|parser-table|parser-thread|reader-thread)\.cjs$/,
    /^dist\/console\/(assets\/)?[\w.-]+\.(html|js|css|svg|woff2)(\.gz)?$/,
    /^docs\/([a-z-]+|frameworks\/(README|[a-z-]+))\.md$/,
    /^(wedges|blueprints|presets)\/[\w./-]+\.(json|md|mjs)$/,
    // The TypeScript client is compiled with tools that only the repository has.
    /^clients\/(typescript\/(README\.md|LICENSE)|python\/(README\.md|LICENSE|pyproject\.toml|(agent_work_service_client|setup)\.py))$/,
    /^(README\.md|CHANGELOG\.md|LICENSE|THIRD-PARTY-LICENSES|package\.json)$/,
  ]
  const paths = packed.files.map(({ path }) => path)
  expect(paths.filter((path) => !expected.some((pattern) => pattern.test(path)))).toEqual([])
  for (const path of ['dist/svc.mjs', 'dist/console/index.html', 'dist/console/portal.html', 'docs/quick-start.md'])
    expect(paths).toContain(path)
})

test('a link of a packed page leads to a packed file, to a screenshot or to CONTRIBUTING.md', () => {
  const paths = packed.files.map(({ path }) => path)
  const dead = paths
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      linkedFiles(path)
        .filter((target) => !paths.includes(target))
        .map((target) => `${path}: ${target}`),
    )
  expect(dead.filter((link) => !/: (docs\/screens\/.*|CONTRIBUTING\.md)$/.test(link))).toEqual([])
})

test('the package, alone and with what it installs, is not larger than docs/operations.md says', () => {
  const text = page('docs/operations.md').replaceAll(/\s+/g, ' ')
  const [, packedSize, unpackedSize] = /less than ([\d.]+) MB, ([\d.]+) MB unpacked/.exec(text) ?? []
  expect(packed.size).toBeLessThan(Number(packedSize) * 1e6)
  expect(packed.unpackedSize).toBeLessThan(Number(unpackedSize) * 1e6)
  const [, installedSize] = /`node_modules` then has less than ([\d.]+) MB/.exec(text) ?? []
  const dependencies = installedDependencies(JSON.parse(page('package.json')))
  expect(dependencies).toContain('@photostructure/sqlite')
  const sizes = dependencies.map((name) => folderSize(join(ROOT, 'node_modules', name)))
  const total = sizes.reduce((sum, size) => sum + size, packed.unpackedSize)
  expect(total).toBeLessThan(Number(installedSize) * 1e6)
})

/** The names of the packages that npm installs for a package, at every depth. */
function installedDependencies({ dependencies = {} }: { dependencies?: Record<string, string> }): string[] {
  return Object.keys(dependencies).flatMap((inner) => [
    inner,
    ...installedDependencies(JSON.parse(page(`node_modules/${inner}/package.json`))),
  ])
}

const folderSize = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

test('every dependency of package.json and of test/package.json is used', () => {
  const { dependencies, devDependencies } = JSON.parse(page('package.json'))
  const bundle = readFileSync(join(installed, 'dist/service.cjs'), 'utf8')
  for (const name of Object.keys(dependencies)) expect(bundle).toContain(`"${name}"`)
  const tests = codeOf(['test'])
  const code = codeOf(['src', 'console', 'bench', 'scripts', 'vitest.config.ts', 'tsconfig.json']) + tests
  // oxlint loads this package itself for the rules that need types.
  const implicitTools = ['oxlint-tsgolint']
  const isUsed = (name: string) => name.startsWith('@types/') || implicitTools.includes(name) || isNamedIn(code, name)
  expect(Object.keys(devDependencies).filter((name) => !isUsed(name))).toEqual([])
  const ofTests = Object.keys(JSON.parse(page('test/package.json')).dependencies)
  expect(ofTests.filter((name) => !isNamedIn(tests, name))).toEqual([])
  const others = codeOf(['src', 'console', 'bench', 'clients'])
  expect(ofTests.filter((name) => new RegExp(`(from|import|require)\\W+${name}['/]`).test(others))).toEqual([])
})

const isNamedIn = (code: string, name: string) => new RegExp(`['"/]${name}['"/]`).test(code)

/** The text of all files of code at these paths, without those of packages. */
function codeOf(paths: readonly string[]): string {
  const files = paths.flatMap((path) =>
    statSync(join(ROOT, path)).isFile()
      ? [path]
      : readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' }).map((file) => join(path, file)),
  )
  const own = files.filter(
    (file) => /\.(ts|tsx|mjs|css|json)$/.test(file) && !/node_modules|package(-lock)?\.json/.test(file),
  )
  return own.map((file) => page(file)).join('\n')
}

test('THIRD-PARTY-LICENSES contains the licenses of all bundled packages (`npm run licenses` updates it)', () => {
  expect(page('THIRD-PARTY-LICENSES')).toBe(licenses())
})

/** The bytes of an executable that identify its system and its processor. */
const FORMATS = {
  'linux-x64': { magic: '7f454c4602', at: 18, processor: '3e00' },
  'linux-arm64': { magic: '7f454c4602', at: 18, processor: 'b700' },
  'darwin-x64': { magic: 'cffaedfe', at: 4, processor: '07000001' },
  'darwin-arm64': { magic: 'cffaedfe', at: 4, processor: '0c000001' },
}

test.each([
  ['linux-x64', 'glibc'],
  ['linux-x64', 'musl'],
  ['linux-arm64', 'glibc'],
  ['linux-arm64', 'musl'],
  ['darwin-x64', 'glibc'],
  ['darwin-arm64', 'glibc'],
] as const)('on %s (%s) SQLite has a prebuilt binary for that system', (name, libc) => {
  const { magic, at, processor } = FORMATS[name]
  const head = readHead(findBinary(name, libc))
  expect([head.subarray(0, magic.length / 2), head.subarray(at, at + processor.length / 2)]).toEqual(
    [magic, processor].map((hex) => Buffer.from(hex, 'hex')),
  )
})

/** The path that the loader of the package would choose on that system. It uses the name `glibc` on macOS, too. */
function findBinary(name: keyof typeof FORMATS, libc: string): string {
  const [platform = '', arch = ''] = name.split('-')
  const code = "console.log(require('node-gyp-build').path('node_modules/@photostructure/sqlite'))"
  const env = { npm_config_platform: platform, npm_config_arch: arch, LIBC: libc, PREBUILDS_ONLY: '1' }
  return execFileSync(process.execPath, ['-e', code], { cwd: ROOT, env, encoding: 'utf8' }).trim()
}

function readHead(path: string): Buffer {
  const head = Buffer.alloc(32)
  const file = openSync(path, 'r')
  readSync(file, head)
  closeSync(file)
  return head
}

test('npm refuses to install the package on an unsupported system', () => {
  const { os } = JSON.parse(page('package.json'))
  expect(os).toEqual([...new Set(Object.keys(FORMATS).map((name) => name.split('-')[0]))])
})

test('the installed package can serve, create a wedge, check, rehearse, run, verify and back up in an empty folder', async () => {
  const env = { SVC_PORT: '0', SVC_SANDBOX: 'process', SVC_LOG_LEVEL: 'error', SVC_EGRESS_ALLOW: '127.0.0.1' }
  const initialised = await runSvc(['init'], { programPath: program, cwd: folder })
  expect(initialised).toMatchObject({ code: 0, stdout: expect.stringContaining('with the examples') })
  const child = spawn(process.execPath, [program, 'serve'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    const output = await readUntil(child.stdout, 'sandbox: process')
    const url = /listens on (\S+)/.exec(output)?.[1] ?? ''
    const key = /svc_key_\S+/.exec(output)?.[0] ?? ''
    const options = { programPath: program, url, cwd: folder, env: { ...env, SVC_KEY: key } }
    const run = async (args: string[], stdin = '') => {
      const ended = await runSvc(args, { ...options, stdin })
      expect(ended, args.join(' ')).toMatchObject({ code: 0 })
      return ended.stdout
    }
    // The first run of the README.
    const example = 'wedges/refund-desk/rehearsals/handle_request.input.json'
    expect(await run(['run', 'refund-desk', 'handle_request', '--input', example], 'a\n')).toContain('■ succeeded')
    await run(['wedge', 'new', 'shop-helper'])
    await run(['wedge', 'check'])
    expect(await run(['wedge', 'rehearse', 'shop-helper'])).toContain('✓ answer')
    const input = 'wedges/shop-helper/rehearsals/answer.input.json'
    expect(await run(['run', 'shop-helper', 'answer', '--input', input], 'a\n')).toContain('■ succeeded')
    expect(await run(['audit', 'verify', '-'], await run(['audit', 'export']))).toContain('verifies')
    await run(['backup', join(folder, 'copy.db')])
    expect(existsSync(join(folder, 'copy.db'))).toBe(true)
    expect(await run(['doctor'])).toContain('✓ store')
    const authorization = `Bearer ${key}`
    expect(await (await fetch(`${url}/v1/presets`, { headers: { authorization } })).text()).toContain('"stripe"')
    expect(await testSmtp(url, authorization)).toContain('ECONNREFUSED')
    for (const [path, text] of [
      ['/', '<title>Agent Work Service</title>'],
      ['/portal', '<!doctype html>'],
      ['/docs', 'API reference'],
      ['/openapi.json', '"openapi"'],
    ] as const)
      expect(await (await fetch(url + path, { headers: { accept: 'text/html' } })).text()).toContain(text)
  } finally {
    child.kill('SIGTERM')
    await exited
  }
})

test('the installed package creates a project in which npx finds it, and a task of the example wedge completes', async () => {
  const project = join(folder, 'my-shop')
  const created = await runSvc(['init', 'my-shop'], { programPath: program, cwd: folder })
  expect(created).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('cd my-shop && npm install && npx svc serve'),
  })
  const { version } = JSON.parse(page('package.json'))
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  expect(manifest.dependencies).toEqual({ 'agent-work-service': `^${version}` })
  // As npm would install it.
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  symlinkSync(installed, join(project, 'node_modules/agent-work-service'))
  symlinkSync('../agent-work-service/dist/svc.mjs', join(project, 'node_modules/.bin/svc'))
  const npx = execFileSync('npx', ['--no-install', 'svc', '--version'], {
    cwd: project,
    encoding: 'utf8',
    stdio: 'pipe',
  })
  expect(npx).toContain(version)

  const env = { PATH: process.env['PATH'] ?? '', SVC_PORT: '0', SVC_SANDBOX: 'process', SVC_LOG_LEVEL: 'error' }
  const child = spawn('node_modules/.bin/svc', ['serve'], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  try {
    const output = await readUntil(child.stdout, 'sandbox: process')
    const url = /listens on (\S+)/.exec(output)?.[1] ?? ''
    const SVC_KEY = /svc_key_\S+/.exec(output)?.[0] ?? ''
    const meta = await fetch(`${url}/v1/meta`, { headers: { authorization: `Bearer ${SVC_KEY}` } })
    expect(await meta.json()).toMatchObject({ vault: { ephemeral: false } })
    const input = 'wedges/shop-helper/rehearsals/answer.input.json'
    const options = { programPath: program, cwd: project, env: { SVC_URL: url, SVC_KEY }, stdin: 'a\n' }
    const ended = await runSvc(['run', 'shop-helper', 'answer', '--input', input], options)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('■ succeeded') })
  } finally {
    child.kill('SIGTERM')
    await exited
  }
})

/** Tests a connection to a mail server that does not exist, for which the service loads its bundle for SMTP. */
async function testSmtp(url: string, authorization: string): Promise<string> {
  const headers = { authorization, 'content-type': 'application/json' }
  const config = { provider: 'smtp', host: '127.0.0.1', port: 1, from: 'a@test.example' }
  const body = JSON.stringify({ kind: 'email', name: 'smtp', config })
  const created = await fetch(`${url}/v1/connections`, { method: 'POST', headers, body })
  const { id } = (await created.json()) as { id: string }
  return (await fetch(`${url}/v1/connections/${id}/test`, { method: 'POST', headers, body: '{}' })).text()
}
