import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { licenses } from '../../scripts/licenses.mjs'
import { svc } from '../cli/svc.ts'
import { page, ROOT } from '../docs/pages.ts'

interface Packed {
  filename: string
  size: number
  unpackedSize: number
  files: { path: string }[]
}

const folder = mkdtempSync(join(tmpdir(), 'svc-package-'))
const installed = join(folder, 'node_modules/agent-work-service')
let packed: Packed

/** As npm would lay it out, without asking a registry for the one package that it depends on. */
beforeAll(() => {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [first] = JSON.parse(
    execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  packed = first
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components=1'])
  symlinkSync(join(ROOT, 'node_modules/@photostructure'), join(folder, 'node_modules/@photostructure'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

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

test.each(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])('the store has a binary for %s', (platform) => {
  const prebuilt = readdirSync(join(ROOT, 'node_modules/@photostructure/sqlite/prebuilds', platform))
  expect(prebuilt).toContain('@photostructure+sqlite.glibc.node')
})

test('from an empty folder: serve, make a wedge, check, rehearse, run, verify, back up', async () => {
  const program = join(installed, 'dist/svc.mjs')
  const env = { SVC_PORT: '0', SVC_SANDBOX: 'process', SVC_LOG_LEVEL: 'error' }
  const child = spawn(process.execPath, [program, 'serve'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    const said = await saidUntil(child.stdout, 'svc wedge new NAME')
    const url = /listens on (\S+)/.exec(said)?.[1] ?? ''
    const key = /svc_key_\S+/.exec(said)?.[0] ?? ''
    const here = { program, url, cwd: folder, env: { ...env, SVC_KEY: key } }
    const done = async (words: string[], stdin = '') => {
      const ended = await svc(words, { ...here, stdin })
      expect(ended, words.join(' ')).toMatchObject({ code: 0 })
      return ended.stdout
    }
    await done(['wedge', 'new', 'shop-helper'])
    await done(['wedge', 'check'])
    expect(await done(['wedge', 'rehearse', 'shop-helper'])).toContain('✓ answer')
    const input = 'wedges/shop-helper/rehearsals/answer.input.json'
    expect(await done(['run', 'shop-helper', 'answer', '--input', input], 'a\n')).toContain('■ succeeded')
    expect(await done(['audit', 'verify', '-'], await done(['audit', 'export']))).toContain('holds')
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

/** What was said up to the line with these words, or to the end. */
async function saidUntil(stream: Readable, words: string): Promise<string> {
  let said = ''
  for await (const text of stream.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += String(text)
    if (said.includes(words)) break
  }
  stream.resume()
  return said
}
