import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { pickSandboxDriver } from '../../src/sandbox/pick-driver.ts'
import { inTemporaryFolder, cellSpec } from './run-cell.ts'

test('where namespaces are forbidden auto falls back with a warning, and bwrap says how to get it', async () => {
  const outer = await pickSandboxDriver('bwrap', () => {})
  await inTemporaryFolder(async (folder) => {
    await bundle(folder)
    // A workshop has bwrap among its programs but may not make namespaces: the very machine that this is about.
    const cell = outer.start(cellSpec({ profile: 'workshop', command: ['node', '/agent/service.mjs'] }, folder))
    const lines: string[] = []
    cell.onLine((line) => void lines.push(line))
    expect(await cell.exited).toEqual({ code: 0, signal: null, stderr: '' })
    const [warning, ...rest] = lines
    expect(warning).toMatch(/^WARNING: agents run WITHOUT a sandbox: .*apt-get install bubblewrap/)
    expect(rest).toContain('auto: process')
    expect(rest.at(-1)).toMatch(
      /^refused: Error the sandbox cannot be used: .*apt-get install bubblewrap.*user namespaces/,
    )
  })
})

async function bundle(folder: string): Promise<void> {
  const contents = `
    import { pickDriver } from ${JSON.stringify(new URL('../../src/sandbox/pick-driver.ts', import.meta.url).pathname)}
    console.log('auto: ' + (await pickDriver('auto', console.log)).kind)
    await pickDriver('bwrap', () => {}).catch((error) => console.log('refused: ' + error.name + ' ' + error.message))`
  const stdin = { contents, resolveDir: folder, loader: 'ts' } as const
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile: join(folder, 'service.mjs') })
}
