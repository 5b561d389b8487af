import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runSvc } from '../cli/run-svc.ts'
import { blocks, page, ROOT } from '../docs/pages.ts'
import { packAndInstall, readUntil } from './installed-package.ts'

/**
 * The package on what can be had of a Mac without one: its layout (/tmp and /var are links, the temporary folder has a
 * long name), Node and other programs from Homebrew, no /proc, no bubblewrap, and a Node that says `darwin`.
 */
const packed = packAndInstall()
afterAll(packed.remove)

const HOME = '/Users/kim'
const HOMEBREW = '/opt/homebrew/bin'
const CELLAR = '/opt/homebrew/Cellar'
const BREWED_NODE = join(HOMEBREW, 'node')
const OPEN_FOLDERS = ['/opt', '/opt/homebrew', HOMEBREW, CELLAR, '/Users', HOME]
const TEMPORARY = '/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/'
const REFUND = { order_id: 'A-1001', amount_usd: 80, reason: 'arrived damaged', customer_email: 'kim@example.com' }

beforeAll(() => {
  cpSync(join(packed.installed, 'wedges'), join(packed.folder, 'wedges'), { recursive: true })
  mkdirSync(join(packed.folder, 'agent'))
  writeFileSync(join(packed.folder, 'agent/agent.py'), blocks(page('docs/agent-protocol.md'), 'python')[0] ?? '')
  // The binary of the store is loaded before: it is this machine's.
  const darwin = "require('@photostructure/sqlite'); Object.defineProperty(process, 'platform', { value: 'darwin' })"
  writeFileSync(join(packed.folder, 'darwin.cjs'), darwin)
})

/** Root's temporary folder there is closed to the users of cells, which are others than root. */
const people = process.getuid?.() === 0 ? (['a user', 'root'] as const) : (['a user'] as const)

describe.skipIf(process.platform !== 'linux').each(people)('on macOS, for %s', (who) => {
  test('agents, workflows and approvals work, with a loud warning that names no tool of Linux', async () => {
    const { url, key, complained } = await serve(who)
    expect(await refund(url, key)).toMatchObject({ code: 0, stdout: expect.stringContaining('■ succeeded') })
    const warnings = complained().filter(({ level }) => level === 40)
    expect(warnings.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([
        'WARNING: agents run WITHOUT a sandbox: bubblewrap is available on Linux only. For agents that you do not trust, run the service on Linux',
        expect.stringContaining('not a security boundary'),
      ]),
    )
    expect(JSON.stringify(complained())).not.toMatch(/apt|sysctl|namespaces/)
  })

  test('an agent of your own is found where the programs of its machine are', async () => {
    const { url, key } = await serve(who, { SVC_AGENT_COMMAND: 'brewed-python agent.py', SVC_AGENT_DIR: 'agent' })
    expect(await refund(url, key)).toMatchObject({ code: 0, stdout: expect.stringContaining('■ succeeded') })
  })

  test('doctor gives no advice that cannot be followed', () => {
    const { stdout } = spawnSync('bwrap', [...mac(who), 'doctor'], { encoding: 'utf8' })
    expect(stdout).toContain('bubblewrap: not available on darwin')
    expect(stdout).not.toMatch(/apt|sysctl/)
  })
})

const refund = (url: string, key: string) =>
  runSvc(['run', 'refund-desk', 'handle_request', '--input', JSON.stringify(REFUND)], {
    url,
    env: { SVC_KEY: key },
    stdin: 'a\n',
    programPath: packed.program,
  })

async function serve(who: (typeof people)[number], settings: Record<string, string> = {}) {
  const child = spawn('bwrap', [...mac(who, settings), 'serve'], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const said = await readUntil(child.stdout, 'sandbox: process')
  const url = /listens on (\S+)/.exec(said)?.[1] ?? errors
  const key = /svc_key_\S+/.exec(said)?.[0] ?? errors
  const complained = (): { level: number; msg: string }[] =>
    errors.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  return { url, key, complained }
}

/** The words for bwrap, up to those for svc. */
function mac(who: (typeof people)[number], settings: Record<string, string> = {}): string[] {
  const data = join(HOME, 'Library/Application Support', who)
  const environment = { HOME, PATH: `${HOMEBREW}:/usr/bin:/bin`, TMPDIR: TEMPORARY, SVC_DATA_DIR: data }
  const variables = { ...environment, SVC_PORT: '0', SVC_LOG_LEVEL: 'warn', ...settings }
  return [
    ['--die-with-parent', '--clearenv', ...(who === 'root' ? [] : ['--unshare-user', '--uid', '501', '--gid', '20'])],
    ['--ro-bind', '/usr', '/usr', '--dev', '/dev'],
    ['/bin', '/lib', '/lib64'].flatMap(asHere),
    [
      '--perms',
      '1777',
      '--dir',
      '/private/tmp',
      '--symlink',
      'private/tmp',
      '/tmp',
      '--symlink',
      'private/var',
      '/var',
    ],
    ['--perms', '0700', '--dir', join('/private', TEMPORARY)],
    OPEN_FOLDERS.flatMap((folder) => ['--perms', '0755', '--dir', folder]),
    ['--ro-bind', realpathSync(process.execPath), join(CELLAR, 'node'), '--symlink', join(CELLAR, 'node'), BREWED_NODE],
    ['--symlink', '/usr/bin/python3', join(HOMEBREW, 'brewed-python')],
    ['--ro-bind', join(ROOT, 'node_modules'), join(ROOT, 'node_modules')],
    ['--bind', packed.folder, join(HOME, 'app'), '--chdir', join(HOME, 'app')],
    Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]),
    ['--', BREWED_NODE, '--require', './darwin.cjs', 'node_modules/agent-work-service/dist/svc.mjs'],
  ].flat()
}

function asHere(path: string): string[] {
  if (!existsSync(path)) return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}
