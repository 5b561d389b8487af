import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { inTemporaryFolder } from './run-cell.ts'

const isRoot = process.getuid?.() === 0

test('cells work for a service that does not run as root', async () => {
  await inTemporaryFolder(async (folder) => {
    await bundle(folder)
    const home = join(folder, 'home')
    mkdirSync(home)
    chmodSync(home, 0o777)
    expect(serve(process.execPath, folder, home, isRoot ? { uid: 1500, gid: 1500 } : {})).toEqual(WORKED)
  })
})

test('cells work for a service that runs as root from folders that other users cannot read', async () => {
  const before = stagedFolders()
  await inTemporaryFolder(async (folder) => {
    const home = join(folder, 'home')
    mkdirSync(home, { mode: 0o700 })
    await bundle(home)
    copyFileSync(process.execPath, join(home, 'node'))
    expect(serve(join(home, 'node'), home, home, {})).toEqual(WORKED)
  })
  expect(stagedFolders()).toEqual(before)
})

const WORKED = { lines: ['hello', 'hello'], errors: '', status: 0 }

function serve(node: string, folder: string, home: string, user: { uid?: number; gid?: number }) {
  const options = { encoding: 'utf8', env: {}, cwd: '/', ...user } as const
  const { stdout, stderr, status } = spawnSync(node, [join(folder, 'service.mjs'), home], options)
  return { lines: stdout.trim().split('\n'), errors: stderr, status }
}

/** Bundles the service into one file, so that another user can run it without access to this folder. */
async function bundle(folder: string): Promise<void> {
  const cells = new URL('./run-cell.ts', import.meta.url).pathname
  const driver = new URL('../../../src/execution/sandbox/pick-driver.ts', import.meta.url).pathname
  const contents = `
    import { mkdtempSync } from 'node:fs'
    import { cellSpec, requestingAgent, withSocketServer } from ${JSON.stringify(cells)}
    import { pickSandboxDriver } from ${JSON.stringify(driver)}
    const home = process.argv[2]
    const driver = await pickSandboxDriver('bwrap', () => {})
    const agentDir = mkdtempSync(home + '/agent-')
    for (const profile of ['sealed', 'workshop'])
      await withSocketServer(driver, home, async (socket) => {
        const cell = driver.start(cellSpec({ profile, agent: requestingAgent(driver.socketPathInside(socket)), socket }, agentDir))
        cell.onLine((line) => console.log(line))
        const exit = await cell.exited
        if (exit.code !== 0) console.error(exit)
      })`
  const stdin = { contents, resolveDir: folder, loader: 'ts' } as const
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile: join(folder, 'service.mjs') })
}

function stagedFolders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('svc-staging-'))
}
