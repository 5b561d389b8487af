// A part of `npm run test:frameworks`: imports the flow of docs/automation-tools.md into the Node-RED that a plain
// `npm install` brings today, and runs it. `npm test` does what its nodes do.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startVitest } from 'vitest/node'
import { installNewest } from './newest-packages.mjs'

/** The version of the image. Node-RED needs a newer Node than the oldest that the service supports. */
const NODE = 24

if (process.versions.node.startsWith(`${NODE}.`)) await testNodeRed()
else process.stderr.write(`svc: Node-RED is tested on Node ${NODE} only\n`)

async function testNodeRed() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-newest-node-red-'))
  try {
    const { 'node-red': version } = installNewest(['node-red'], folder)
    process.stderr.write(`svc: Node-RED ${version}\n`)
    process.env['NODE_RED_FOLDER'] = folder
    const root = fileURLToPath(new URL('..', import.meta.url))
    const vitest = await startVitest('test', [], { root, include: ['test/frameworks/node-red.ts'], retry: 1 })
    await vitest.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
