import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { licenses } from '../../scripts/licenses.mjs'
import { runSvc } from '../cli/run-svc.ts'
import { page, ROOT } from '../docs/pages.ts'
import { packAndInstall, readUntil } from './installed-package.ts'

const packed = packAndInstall()
const { folder, installed, program } = packed
afterAll(packed.remove)

test('the package holds what runs and what is read, and nothing else', () => {
  const expected = [
    /^dist\/(svc\.mjs|service\.cjs)$/,
    /^dist\/(harness|workflow-cell)\.cjs$/,
    /^dist\/console\/(assets\/)?[\w.-]+\.(html|js|css|svg|woff2)(\.br|\.gz)?$/,
    /^docs\/[a-z-]+\.md$/,
    /^(wedges|blueprints)\/[\w./-]+\.(json|md|mjs)$/,
    /^(README\.md|CHANGELOG\.md|LICENSE|THIRD-PARTY-LICENSES|package\.json)$/,
  ]
  const paths = packed.files.map(({ path }) => path)
  expect(paths.filter((path) => !expected.some((pattern) => pattern.test(path)))).toEqual([])
  for (const path of ['dist/svc.mjs', 'dist/console/index.html', 'dist/console/portal.html', 'docs/quick-start.md'])
    expect(paths).toContain(path)
})

test('the package is as small as its page says', () => {
  const [, most, unpacked] = /less than ([\d.]+) MB, ([\d.]+) MB unpacked/.exec(page('docs/operations.md')) ?? []
  expect(packed.size).toBeLessThan(Number(most) * 1e6)
  expect(packed.unpackedSize).toBeLessThan(Number(unpacked) * 1e6)
})

test('every package that it depends on is used, and nothing else is', () => {
  const { dependencies, devDependencies } = JSON.parse(page('package.json'))
  const bundle = readFileSync(join(installed, 'dist/service.cjs'), 'utf8')
  for (const name of Object.keys(dependencies)) expect(bundle).toContain(`"${name}"`)
  const folders = ['src', 'console', 'test', 'bench', 'scripts']
  const files = folders.flatMap((name) =>
    readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|tsx|mjs|css|json)$/.test(file))
      .map((file) => page(join(name, file))),
  )
  const code = [...files, page('vitest.config.ts'), page('tsconfig.json')].join('\n')
  // oxlint loads it by itself for the rules that need types.
  const tools = ['oxlint-tsgolint']
  const used = (name: string) =>
    name.startsWith('@types/') || tools.includes(name) || new RegExp(`['"/]${name}['"/]`).test(code)
  expect(Object.keys(devDependencies).filter((name) => !used(name))).toEqual([])
})

test('the terms of everything that is bundled are listed; `npm run licenses` writes them', () => {
  expect(page('THIRD-PARTY-LICENSES')).toBe(licenses())
})

/** By the first bytes of an executable: which system it is for, and which processor. */
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
] as const)('on %s (%s) the store loads a binary for that system, and no script has to make one', (name, libc) => {
  const { magic, at, processor } = FORMATS[name]
  const head = headOf(binaryFor(name, libc))
  expect([head.subarray(0, magic.length / 2), head.subarray(at, at + processor.length / 2)]).toEqual(
    [magic, processor].map((hex) => Buffer.from(hex, 'hex')),
  )
})

/** Asks the loader itself, as if it stood there; the name `glibc` is also what it looks for on macOS. */
function binaryFor(name: keyof typeof FORMATS, libc: string): string {
  const [platform = '', arch = ''] = name.split('-')
  const code = "console.log(require('node-gyp-build').path('node_modules/@photostructure/sqlite'))"
  const env = { npm_config_platform: platform, npm_config_arch: arch, LIBC: libc, PREBUILDS_ONLY: '1' }
  return execFileSync(process.execPath, ['-e', code], { cwd: ROOT, env, encoding: 'utf8' }).trim()
}

function headOf(path: string): Buffer {
  const head = Buffer.alloc(32)
  const file = openSync(path, 'r')
  readSync(file, head)
  closeSync(file)
  return head
}

test('npm refuses to install the package on a system that it does not run on', () => {
  const { os } = JSON.parse(page('package.json'))
  expect(os).toEqual([...new Set(Object.keys(FORMATS).map((name) => name.split('-')[0]))])
})

test('from an empty folder: serve, make a wedge, check, rehearse, run, verify, back up', async () => {
  const env = { SVC_PORT: '0', SVC_SANDBOX: 'process', SVC_LOG_LEVEL: 'error' }
  const child = spawn(process.execPath, [program, 'serve'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    const said = await readUntil(child.stdout, `node ${relative(folder, program)} wedge new NAME`)
    const url = /listens on (\S+)/.exec(said)?.[1] ?? ''
    const key = /svc_key_\S+/.exec(said)?.[0] ?? ''
    const here = { program, url, cwd: folder, env: { ...env, SVC_KEY: key } }
    const done = async (words: string[], stdin = '') => {
      const ended = await runSvc(words, { ...here, stdin })
      expect(ended, words.join(' ')).toMatchObject({ code: 0 })
      return ended.stdout
    }
    await done(['wedge', 'new', 'shop-helper'])
    await done(['wedge', 'check'])
    expect(await done(['wedge', 'rehearse', 'shop-helper'])).toContain('✓ answer')
    const input = 'wedges/shop-helper/rehearsals/answer.input.json'
    expect(await done(['run', 'shop-helper', 'answer', '--input', input], 'a\n')).toContain('■ succeeded')
    expect(await done(['audit', 'verify', '-'], await done(['audit', 'export']))).toContain('verifies')
    await done(['backup', join(folder, 'copy.db')])
    expect(existsSync(join(folder, 'copy.db'))).toBe(true)
    expect(await done(['doctor'])).toContain('✓ store')
    for (const [path, words] of [
      ['/', '<title>Agent Work Service</title>'],
      ['/portal', '<!doctype html>'],
      ['/docs', 'API reference'],
      ['/openapi.json', '"openapi"'],
    ] as const)
      expect(await (await fetch(url + path, { headers: { accept: 'text/html' } })).text()).toContain(words)
  } finally {
    child.kill('SIGTERM')
    await exited
  }
})
