import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../cli/run-svc.ts'
import { ROOT } from '../docs/pages.ts'

/** That of macOS is an old bash that calls itself sh. */
const SHELLS: [string, ...string[]][] = [['sh'], ['dash'], ['bash', '--posix'], ['busybox', 'sh']]

test.each(SHELLS.filter(([shell]) => whereIs(shell) !== null))(
  'svc needs no more of the machine than %s, node and the oldest find and readlink',
  (program, ...options) => {
    const dir = temporaryFolder()
    const tools = plainTools(join(dir, 'tools'))
    upToDateClone(join(dir, 'clone'))
    mkdirSync(join(dir, 'elsewhere'))
    symlinkSync('../clone/svc', join(dir, 'elsewhere/first'))
    symlinkSync('first', join(dir, 'elsewhere/second'))
    const path = whereIs(program) ?? program
    for (const name of ['../clone/svc', 'first', 'second', join(dir, 'elsewhere/second')]) {
      const ended = spawnSync(path, [...options, name, 'tasks', 'a word'], {
        cwd: join(dir, 'elsewhere'),
        env: { PATH: tools },
        encoding: 'utf8',
      })
      // A name alone would be looked for on the PATH.
      const called = name.includes('/') ? name : `./${name}`
      expect(ended, name).toMatchObject({
        status: 0,
        stderr: '',
        stdout: `${JSON.stringify(['tasks', 'a word', called])}\n`,
      })
    }
  },
)

test('whoever stops `npm start` stops the service, not only npm', async () => {
  const dir = temporaryFolder()
  upToDateClone(dir)
  cpSync(join(ROOT, 'package.json'), join(dir, 'package.json'))
  const service = "process.on('SIGTERM', () => { console.log('drained'); process.exit() })"
  writeFileSync(join(dir, 'dist/svc.mjs'), `${service}\nconsole.log('up'); setTimeout(() => {}, 30_000)`)
  const npm = spawn('npm', ['start'], { cwd: dir, stdio: ['ignore', 'pipe', 'ignore'] })
  let said = ''
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (text.includes('up\n')) npm.kill('SIGTERM')
  })
  await once(npm, 'close')
  expect(said).toContain('drained')
})

test('what is kept of the compiled program is for one processor: another one would die of it', async () => {
  const dir = temporaryFolder()
  cpSync(join(ROOT, 'scripts/launcher.mjs'), join(dir, 'svc.mjs'))
  writeFileSync(join(dir, 'service.cjs'), 'setTimeout(() => {}, 3000)')
  const other = process.arch === 'arm64' ? 'x64' : 'arm64'
  writeFileSync(join(dir, 'other.cjs'), `Object.defineProperty(process, 'arch', { value: '${other}' })`)
  const start = (...flags: string[]) => spawn(process.execPath, [...flags, join(dir, 'svc.mjs'), 'serve'])
  await Promise.all([start(), start('--require', join(dir, 'other.cjs'))].map((child) => once(child, 'exit')))
  expect(readdirSync(dir).filter((name) => name.startsWith('.compiled-'))).toHaveLength(2)
})

/** A folder for the PATH with little in it. Before 12.3 the readlink of macOS has no options but -n. */
function plainTools(folder: string): string {
  mkdirSync(folder)
  symlinkSync(process.execPath, join(folder, 'node'))
  symlinkSync(whereIs('find') ?? '', join(folder, 'find'))
  const readlink = `#!/bin/sh\ncase $1 in -*) exit 1 ;; esac\nexec ${whereIs('readlink')} "$1"\n`
  writeFileSync(join(folder, 'readlink'), readlink)
  chmodSync(join(folder, 'readlink'), 0o755)
  return folder
}

/** Nothing is to be installed or built, and the program says what it was given. */
function upToDateClone(folder: string): void {
  for (const name of ['src', 'console', 'scripts', 'node_modules', 'dist'])
    mkdirSync(join(folder, name), { recursive: true })
  cpSync(join(ROOT, 'svc'), join(folder, 'svc'))
  for (const name of ['package-lock.json', 'node_modules/.package-lock.json', 'dist/.built'])
    writeFileSync(join(folder, name), '')
  writeFileSync(
    join(folder, 'dist/svc.mjs'),
    'console.log(JSON.stringify([...process.argv.slice(2), process.env.SVC_CALLED_AS]))',
  )
}

function whereIs(program: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null
}
