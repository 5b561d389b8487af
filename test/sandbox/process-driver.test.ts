import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { pickSandboxDriver } from '../../src/sandbox/pick-driver.ts'
import { nodePermissionFlags, processDriver } from '../../src/sandbox/process-driver.ts'
import { requestingAgent, inTemporaryFolder, runCell, cellSpec, attemptingAgent, withSocketServer } from './run-cell.ts'

const driver = processDriver(() => {})

test('the process driver warns at start that it is no wall', async () => {
  const said: string[] = []
  const picked = await pickSandboxDriver('process', (line) => void said.push(line))
  expect(picked.kind).toBe('process')
  expect(picked.isolation).toMatchObject({ network: false, files: false, environment: true })
  expect(said.join('\n')).toMatch(/WARNING.*not a security boundary/)
})

test('an agent runs with lines in and out, without an environment', async () => {
  const agent = `
    console.log(JSON.stringify(Object.keys(process.env).filter((name) => name !== 'PWD' && name !== '__CF_USER_TEXT_ENCODING')))
    process.stdin.on('data', (data) => process.stdout.write('got ' + data))`
  const { lines, exit } = await runCell(driver, { agent, input: 'one' })
  expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
  expect(lines).toEqual(['[]', 'got one'])
})

test('an agent may write in its own folder only, which is gone afterwards', async () => {
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

test('the service is reached over the socket at its own path', async () => {
  await inTemporaryFolder((folder) =>
    withSocketServer(driver, folder, async (socket) => {
      expect(driver.socketPathInside(socket)).toBe(socket)
      expect((await runCell(driver, { agent: requestingAgent(socket), socket })).lines).toEqual(['hello'])
    }),
  )
})

test('where folders have long names and the temporary one is a link, as on macOS, a cell works and reaches the service', async () => {
  await inTemporaryFolder((folder) => {
    const long = join(folder, 'a-folder-with-a-long-name/'.repeat(4))
    mkdirSync(long, { recursive: true })
    symlinkSync(long, join(folder, 'T'))
    vi.stubEnv('TMPDIR', join(folder, 'T'))
    onTestFinished(() => void vi.unstubAllEnvs())
    return withSocketServer(driver, long, async (socket) => {
      expect(Buffer.byteLength(socket)).toBeLessThan(MOST_OF_A_SOCKET)
      const agent = `fs = require('node:fs'); fs.writeFileSync('x', 'x'); ${requestingAgent(socket)}`
      expect(await runCell(driver, { agent, socket })).toMatchObject({ lines: ['hello'], exit: { stderr: '' } })
    })
  })
})

/** Its address on macOS, with the byte that ends it. */
const MOST_OF_A_SOCKET = 104

test('kill ends an endless loop, also one that is deaf to being asked', async () => {
  await inTemporaryFolder(async (folder) => {
    const spec = cellSpec({ agent: "process.on('SIGTERM', () => {}); console.log('up'); for (;;);" }, folder)
    const cell = driver.start({ ...spec, command: ['node', `${driver.agentDirInside(folder)}/agent.cjs`] })
    await new Promise((resolve) => cell.onLine(resolve))
    await cell.kill()
    expect((await cell.exited).signal).toBe('SIGKILL')
  })
})

test('kill takes the children of a program along', async () => {
  await inTemporaryFolder(async (folder) => {
    const script = 'sleep 600 & echo $!; wait'
    const cell = driver.start(cellSpec({ profile: 'workshop', command: ['sh', '-c', script] }, folder))
    const child = Number(await new Promise<string>((resolve) => cell.onLine(resolve)))
    await cell.kill()
    await expect.poll(() => isRunning(child), { timeout: 10_000 }).toBe(false)
  })
})

test('a program that leaves a child behind holding its output still exits', async () => {
  const command = ['sh', '-c', 'sleep 600 & echo left']
  const { lines, exit } = await runCell(driver, { profile: 'workshop', command })
  expect({ lines, code: exit.code }).toEqual({ lines: ['left'], code: 0 })
})

test('a workshop runs any program with three variables, in the folder of the custom agent', async () => {
  await inTemporaryFolder(async (customDir) => {
    writeFileSync(join(customDir, 'own.sh'), 'env | cut -d= -f1 | sort')
    const { lines } = await runCell(driver, { profile: 'workshop', command: ['sh', 'own.sh'], customDir })
    expect(lines.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))).toEqual(['HOME', 'LANG', 'PATH'])
  })
})

test('a program that does not exist ends with a sentence', async () => {
  const { exit } = await runCell(driver, { profile: 'workshop', command: ['no-such-program'] })
  expect(exit.code).not.toBe(0)
  expect(exit.stderr).toContain('no-such-program')
})

test('each version of Node gets the flags that it knows', () => {
  expect(nodePermissionFlags('20.19.0', ['/a'], '/t', true).slice(0, 1)).toEqual(['--experimental-permission'])
  expect(nodePermissionFlags('20.19.0', ['/a'], '/t', true)).not.toContain('--no-experimental-sqlite')
  expect(nodePermissionFlags('22.12.0', ['/a'], '/t', true)[0]).toBe('--experimental-permission')
  expect(nodePermissionFlags('22.13.0', ['/a'], '/t', true)[0]).toBe('--permission')
  expect(nodePermissionFlags('24.1.0', ['/a'], '/t', true)).toContain('--no-experimental-sqlite')
  expect(nodePermissionFlags('24.1.0', ['/a'], '/t', true)).not.toContain('--allow-net')
  expect(nodePermissionFlags('25.0.0', ['/a'], '/t', true)).toContain('--allow-net')
  expect(nodePermissionFlags('25.0.0', ['/a'], '/t', false)).not.toContain('--allow-net')
})

/** A killed process that its adopter has not buried yet (state Z) does not run. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z')
}
