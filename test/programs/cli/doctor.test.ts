import { spawnSync } from 'node:child_process'
import { openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fetchNode, NODE_24 } from '../../../scripts/fetch-node.mjs'
import {
  ALLOW,
  assemble,
  CALL_NUMBER,
  EQUAL,
  failWith,
  ifCall,
  loadWord,
} from '../../../src/execution/sandbox/seccomp/bpf-program.ts'
import { returnVerdict, SECOND_ARGUMENT, THIRD_ARGUMENT } from '../../../src/execution/sandbox/seccomp/bpf-program.ts'
import { ARGUMENT_CHECKED_SYSCALLS } from '../../../src/execution/sandbox/seccomp/syscall-table.ts'
import { SECRET_KEY } from '../../approvals/decisions/gated-app.ts'
import { PROGRAM, runSvc, temporaryFolder } from './run-svc.ts'

describe('svc doctor', () => {
  const SANDBOX_CHECKS = ['sandbox', 'user namespaces', 'custom agents']
  const CHECKS = ['node', ...SANDBOX_CHECKS, 'disk', 'store', 'secret key', 'model', 'wedges']

  test('doctor checks everything the service needs, and says how to fix each problem', async () => {
    const { code, lines } = await runSvc(['doctor', '--json'], {
      cwd: temporaryFolder(),
      env: { SVC_SECRET_KEY: SECRET_KEY },
    })
    expect(lines.map(({ check }) => check)).toEqual(CHECKS)
    for (const { level, detail, fix } of lines) {
      expect(detail).toEqual(expect.any(String))
      expect(level === 'ok' ? fix === null : typeof fix === 'string').toBe(true)
    }
    expect(lines.find(({ check }) => check === 'secret key').level).toBe('ok')
    expect(lines.find(({ check }) => check === 'wedges').fix).toContain('svc wedge new')
    expect(code).toBe(0)
  })

  test('doctor checks no sandbox for a replica that executes no tasks', async () => {
    const { lines } = await runSvc(['doctor', '--json'], { cwd: temporaryFolder(), env: { SVC_ROLE: 'api' } })
    expect(lines.map(({ check }) => check)).toEqual(CHECKS.filter((check) => !SANDBOX_CHECKS.includes(check)))
  })

  test('doctor tries the sandbox driver that is chosen, and fails if the service could not start with it', async () => {
    const check = async (env: Record<string, string>) => {
      const { code, lines } = await runSvc(['doctor', '--json'], { cwd: temporaryFolder(), env })
      const checks = lines.filter(({ check: name }) => SANDBOX_CHECKS.includes(name))
      return { code, checks: checks.map(({ check: name, level, detail }) => `${name} ${level}: ${detail}`) }
    }
    const works = await check({ SVC_SANDBOX: 'bwrap' })
    expect(works).toEqual({
      code: 0,
      checks: [
        'sandbox ok: bwrap works',
        expect.stringMatching(/^user namespaces ok/),
        'custom agents ok: fetch reaches the service (bwrap)',
      ],
    })
    // Without ldd no driver can show the libraries of Node to a cell.
    const broken = { code: 1, checks: [expect.stringMatching(/^sandbox fail: runsc: the sandbox does not work/)] }
    expect(await check({ SVC_SANDBOX: 'runsc', PATH: '/nonexistent' })).toEqual(broken)
    // The service would start with a warning.
    expect(await check({ PATH: '/nonexistent' })).toEqual({
      code: 0,
      checks: [
        expect.stringMatching(/^sandbox warn: agents run WITHOUT a sandbox/),
        expect.stringMatching(/^user namespaces ok/),
        expect.stringMatching(/^custom agents/),
      ],
    })
    expect((await check({ SVC_SANDBOX: 'process' })).checks).toEqual([
      expect.stringMatching(/^sandbox warn: process/),
      'custom agents ok: fetch reaches the service (process)',
    ])
    expect(await check({ SVC_SANDBOX: 'runc' })).toEqual({ code: 1, checks: ['sandbox fail: there is no driver runc'] })
  })

  test('doctor fails with the reason if custom agents cannot use fetch', async ({ skip }) => {
    const node = (await fetchNode(NODE_24)) ?? skip('the npm registry did not send Node 24 for this platform')
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'filter'), refuseTypeOfService())
    const args = ['--dev-bind', '/', '/', '--cap-add', 'ALL', '--seccomp', '3', node, PROGRAM, 'doctor', '--json']
    const { status, stdout } = spawnSync('bwrap', args, {
      cwd,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', SVC_SANDBOX: 'process' },
      stdio: ['ignore', 'pipe', 'inherit', openSync(join(cwd, 'filter'), 'r')],
    })
    const lines = stdout.split('\n').filter(Boolean)
    expect(lines.map((line) => JSON.parse(line))).toContainEqual({
      check: 'custom agents',
      level: 'fail',
      detail: expect.stringMatching(
        /^fetch does not reach the service \(process, Node 24.*setTypeOfService ENOPROTOOPT/,
      ),
      fix: expect.stringContaining('another version of Node'),
    })
    expect(status).toBe(1)
  })

  test('the exit code of doctor is 1 when a setting is wrong, and it shows no password', async () => {
    const env = { SVC_SECRET_KEY: 'short', DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/db' }
    const { code, stdout } = await runSvc(['doctor'], { cwd: temporaryFolder(), env })
    expect(code).toBe(1)
    expect(stdout).toMatch(/✗ store: PostgreSQL at 127\.0\.0\.1:1, database db cannot be used/)
    expect(stdout).toMatch(/✗ secret key: SVC_SECRET_KEY is not 32 bytes in base64\n {4}export SVC_SECRET_KEY=/)
    expect(stdout).not.toContain('hunter2')
  })

  test('doctor reads secrets from files, and names a file that cannot be read', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'key'), `${SECRET_KEY}\n`)
    const found = await runSvc(['doctor'], { cwd, env: { SVC_SECRET_KEY_FILE: join(cwd, 'key') } })
    expect(found.stdout).toContain('secret key: set, 32 bytes')
    const unreadable = await runSvc(['doctor'], { cwd, env: { DATABASE_URL_FILE: join(cwd, 'absent') } })
    expect(unreadable.code).toBe(1)
    expect(unreadable.stdout).toContain('DATABASE_URL_FILE cannot be read')
  })
})

/** A system call filter that refuses an option which fetch of Node 24.21 sets, as the sandbox once did. */
function refuseTypeOfService(): Buffer {
  const column = process.arch === 'x64' ? 0 : 1
  const [ip, typeOfService, notSupported] = [0, 1, 92]
  return assemble([
    loadWord(CALL_NUMBER),
    ...ifCall(ARGUMENT_CHECKED_SYSCALLS.setsockopt[column], [
      loadWord(SECOND_ARGUMENT),
      [EQUAL, 0, 3, ip],
      loadWord(THIRD_ARGUMENT),
      [EQUAL, 0, 1, typeOfService],
      returnVerdict(failWith(notSupported)),
      returnVerdict(ALLOW),
    ]),
    returnVerdict(ALLOW),
  ])
}
