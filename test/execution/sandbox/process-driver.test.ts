import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { findGroupSupport } from '../../../src/execution/sandbox/cgroup/grouped-start.ts'
import { nodePermissionFlags, processDriver } from '../../../src/execution/sandbox/process/process-driver.ts'
import { requestingAgent, inTemporaryFolder, runCell, cellSpec, attemptingAgent, withSocketServer } from './run-cell.ts'

const driver = processDriver(() => {}, findGroupSupport())

test('the process driver warns at start that it is not a security boundary', async () => {
  const logged: string[] = []
  const picked = await pickSandboxDriver('process', (line) => void logged.push(line))
  expect(picked.kind).toBe('process')
  expect(picked.isolation).toMatchObject({ network: false, files: false, environment: true })
  expect(logged.join('\n')).toMatch(/WARNING.*not a security boundary/)
})

test('process driver: an agent reads and writes lines and has no environment', async () => {
  const agent = `
    console.log(JSON.stringify(Object.keys(process.env).filter((name) => name !== 'PWD' && name !== '__CF_USER_TEXT_ENCODING')))
    process.stdin.on('data', (data) => process.stdout.write('got ' + data))`
  const { lines, exit } = await runCell(driver, { agent, input: 'one' })
  expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
  expect(lines).toEqual(['[]', 'got one'])
})

test('process driver: an agent can write only to its own folder, which is removed afterwards', async () => {
  const agent = `console.log(process.cwd()); ${attemptingAgent({
    own: "fs.writeFileSync('x', 'x')",
    agent: "fs.writeFileSync(__dirname + '/x', 'x')",
    host: "fs.readFileSync('/etc/passwd')",
    program: "require('node:child_process').execFileSync('/bin/ls')",
  })}`
  const { lines } = await runCell(driver, { agent })
  const denied = 'ERR_ACCESS_DENIED'
  expect(lines.slice(1)).toEqual(['own done', `agent ${denied}`, `host ${denied}`, `program ${denied}`])
  expect(lines[0]).toContain('svc-cell-')
  expect(existsSync(lines[0] ?? '')).toBe(false)
})

test('process driver: an agent reaches the service over the socket at its host path', async () => {
  await inTemporaryFolder((folder) =>
    withSocketServer(driver, folder, async (socket) => {
      expect(driver.socketPathInside(socket)).toBe(socket)
      expect((await runCell(driver, { agent: requestingAgent(socket), socket })).lines).toEqual(['hello'])
    }),
  )
})

test('process driver: a cell reaches the service if paths are long and the temporary folder is a link, as on macOS', async () => {
  await inTemporaryFolder((folder) => {
    const long = join(folder, 'a-folder-with-a-long-name/'.repeat(4))
    mkdirSync(long, { recursive: true })
    symlinkSync(long, join(folder, 'T'))
    vi.stubEnv('TMPDIR', join(folder, 'T'))
    onTestFinished(() => void vi.unstubAllEnvs())
    return withSocketServer(driver, long, async (socket) => {
      expect(Buffer.byteLength(socket)).toBeLessThan(MAX_SOCKET_PATH_BYTES)
      const agent = `fs = require('node:fs'); fs.writeFileSync('x', 'x'); ${requestingAgent(socket)}`
      expect(await runCell(driver, { agent, socket })).toMatchObject({ lines: ['hello'], exit: { stderr: '' } })
    })
  })
})

/** The longest path of a socket on macOS, including its terminating zero. */
const MAX_SOCKET_PATH_BYTES = 104

test('process driver: kill ends an endless loop that ignores SIGTERM', async () => {
  await inTemporaryFolder(async (folder) => {
    const spec = cellSpec({ agent: "process.on('SIGTERM', () => {}); console.log('up'); for (;;);" }, folder)
    const cell = driver.start({ ...spec, command: ['node', `${driver.agentDirInside(folder)}/agent.cjs`] })
    await new Promise((resolve) => cell.onLine(resolve))
    await cell.kill()
    expect((await cell.exited).signal).toBe('SIGKILL')
  })
})

test('process driver: kill also ends the children of a program', async () => {
  await inTemporaryFolder(async (folder) => {
    const script = 'sleep 600 & echo $!; wait'
    const cell = driver.start(cellSpec({ profile: 'workshop', command: ['sh', '-c', script] }, folder))
    const child = Number(await new Promise<string>((resolve) => cell.onLine(resolve)))
    await cell.kill()
    await expect.poll(() => isRunning(child)).toBe(false)
  })
})

test('process driver: the exit of a program is reported while a child of it keeps its output open', async () => {
  const command = ['sh', '-c', 'sleep 600 & echo left']
  const { lines, exit } = await runCell(driver, { profile: 'workshop', command })
  expect({ lines, code: exit.code }).toEqual({ lines: ['left'], code: 0 })
})

test('process driver: a workshop runs any program in the folder of the custom agent, with three variables', async () => {
  await inTemporaryFolder(async (customDir) => {
    writeFileSync(join(customDir, 'own.sh'), 'env | cut -d= -f1 | sort')
    const { lines } = await runCell(driver, { profile: 'workshop', command: ['sh', 'own.sh'], customDir })
    expect(lines.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))).toEqual(['HOME', 'LANG', 'PATH'])
  })
})

test('process driver: the exit of a missing program names the program', async () => {
  const { exit } = await runCell(driver, { profile: 'workshop', command: ['no-such-program'] })
  expect(exit.code).not.toBe(0)
  expect(exit.stderr).toContain('no-such-program')
})

test('nodePermissionFlags returns the flags that each version of Node supports', () => {
  expect(nodePermissionFlags('20.19.0', ['/a'], '/t', true).slice(0, 1)).toEqual(['--experimental-permission'])
  expect(nodePermissionFlags('20.19.0', ['/a'], '/t', true)).not.toContain('--no-experimental-sqlite')
  expect(nodePermissionFlags('22.12.0', ['/a'], '/t', true)[0]).toBe('--experimental-permission')
  expect(nodePermissionFlags('22.13.0', ['/a'], '/t', true)[0]).toBe('--permission')
  expect(nodePermissionFlags('24.1.0', ['/a'], '/t', true)).toContain('--no-experimental-sqlite')
  expect(nodePermissionFlags('24.1.0', ['/a'], '/t', true)).not.toContain('--allow-net')
  expect(nodePermissionFlags('25.0.0', ['/a'], '/t', true)).toContain('--allow-net')
  expect(nodePermissionFlags('25.0.0', ['/a'], '/t', false)).not.toContain('--allow-net')
})

/** A zombie process (state Z) has ended, although its parent has not collected its exit yet. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z')
}
