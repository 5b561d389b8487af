import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { inTemporaryFolder, cellSpec } from './run-cell.ts'

test('without user namespaces, `auto` falls back to the process driver with a warning and `bwrap` fails with instructions', async () => {
  const outer = await pickSandboxDriver('bwrap', () => {})
  await inTemporaryFolder(async (folder) => {
    await bundle(folder)
    // A workshop cell contains bwrap but cannot create namespaces, like a host that forbids them.
    const cell = outer.start(cellSpec({ profile: 'workshop', command: ['node', '/agent/service.mjs'] }, folder))
    const lines: string[] = []
    cell.onLine((line) => void lines.push(line))
    expect(await cell.exited).toEqual({ code: 0, signal: null, stderr: '' })
    const [warning, ...rest] = lines
    expect(warning).toMatch(/^WARNING: agents run WITHOUT a sandbox: .*apt-get install bubblewrap/)
    expect(rest).toContain('auto: process')
    expect(rest.at(-1)).toMatch(
      /^refused: Error the sandbox does not work: .*apt-get install bubblewrap.*user namespaces/,
    )
  })
})

async function bundle(folder: string): Promise<void> {
  const contents = `
    import { pickSandboxDriver } from ${JSON.stringify(new URL('../../../src/execution/sandbox/pick-driver.ts', import.meta.url).pathname)}
    console.log('auto: ' + (await pickSandboxDriver('auto', console.log)).kind)
    await pickSandboxDriver('bwrap', () => {}).catch((error) => console.log('refused: ' + error.name + ' ' + error.message))`
  const stdin = { contents, resolveDir: folder, loader: 'ts' } as const
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile: join(folder, 'service.mjs') })
}
