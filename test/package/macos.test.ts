import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runSvc } from '../programs/cli/run-svc.ts'
import { blocks, page, ROOT } from '../docs/pages.ts'
import { packAndInstall, readUntil } from './installed-package.ts'
import { inMatrix } from '../matrix.ts'

/**
 * Runs the package in an imitation of macOS: its folders (/tmp and /var are links, the temporary folder has a long
 * name), Node and other programs from Homebrew, no /proc, no bubblewrap, and a Node that reports `darwin`.
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
  // The SQLite binary is loaded before the platform changes, because it is the one of this machine.
  const darwin = "require('@photostructure/sqlite'); Object.defineProperty(process, 'platform', { value: 'darwin' })"
  writeFileSync(join(packed.folder, 'darwin.cjs'), darwin)
})

/** Root is tested separately, because its temporary folder is not readable for the users of the cells. */
const users = process.getuid?.() === 0 ? (['a user', 'root'] as const) : (['a user'] as const)

describe.skipIf(process.platform !== 'linux').each(inMatrix(users, ['a user']))('on macOS, for %s', (user) => {
  test('agents, workflows and approvals work, with a warning that names no Linux tools', async () => {
    const { url, key, readLog } = await startService(user)
    expect(await runRefund(url, key)).toMatchObject({ code: 0, stdout: expect.stringContaining('■ succeeded') })
    const warnings = readLog().filter(({ level }) => level === 40)
    expect(warnings.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([
        'WARNING: agents run WITHOUT a sandbox: bubblewrap is available on Linux only. For agents that you do not trust, run the service on Linux',
        expect.stringContaining('not a security boundary'),
      ]),
    )
    expect(JSON.stringify(readLog())).not.toMatch(/apt|sysctl|namespaces/)
  })

  test('a custom agent can use the programs on the PATH', async () => {
    const { url, key } = await startService(user, {
      SVC_AGENT_COMMAND: 'brewed-python agent.py',
      SVC_AGENT_DIR: 'agent',
    })
    expect(await runRefund(url, key)).toMatchObject({ code: 0, stdout: expect.stringContaining('■ succeeded') })
  })

  test('doctor gives no advice for Linux', () => {
    const { stdout } = spawnSync('bwrap', [...macArguments(user), 'doctor'], { encoding: 'utf8' })
    expect(stdout).toContain('bubblewrap is available on Linux only')
    expect(stdout).not.toMatch(/apt|sysctl/)
  })
})

const runRefund = (url: string, key: string) =>
  runSvc(['run', 'refund-desk', 'handle_request', '--input', JSON.stringify(REFUND)], {
    url,
    env: { SVC_KEY: key },
    stdin: 'a\n',
    programPath: packed.program,
  })

async function startService(user: (typeof users)[number], settings: Record<string, string> = {}) {
  const child = spawn('bwrap', [...macArguments(user, settings), 'serve'], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const output = await readUntil(child.stdout, 'sandbox: process')
  const url = /listens on (\S+)/.exec(output)?.[1] ?? errors
  const key = /svc_key_\S+/.exec(output)?.[0] ?? errors
  const readLog = (): { level: number; msg: string }[] =>
    errors.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  return { url, key, readLog }
}

/** The arguments of bwrap that imitate macOS, up to the arguments of svc. */
function macArguments(user: (typeof users)[number], settings: Record<string, string> = {}): string[] {
  const data = join(HOME, 'Library/Application Support', user)
  const environment = { HOME, PATH: `${HOMEBREW}:/usr/bin:/bin`, TMPDIR: TEMPORARY, SVC_DATA_DIR: data }
  const variables = { ...environment, SVC_PORT: '0', SVC_LOG_LEVEL: 'warn', ...settings }
  return [
    ['--die-with-parent', '--clearenv', ...(user === 'root' ? [] : ['--unshare-user', '--uid', '501', '--gid', '20'])],
    ['--ro-bind', '/usr', '/usr', '--dev', '/dev'],
    ['/bin', '/lib', '/lib64'].flatMap(bindAsOnHost),
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

function bindAsOnHost(path: string): string[] {
  if (!existsSync(path)) return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}
