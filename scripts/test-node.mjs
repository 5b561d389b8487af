// `npm run test:node24`: builds, and runs a part of the tests on Node 24, the version of the image, whatever version the
// machine has. `npm test` runs all of them on the machine's own version.
//   npm run test:node24                          the files below
//   npm run test:node24 -- test/tasks            these files
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNode24 } from './fetch-node.mjs'
import { installTools } from './machine.mjs'

/** The contract, tasks and their events over HTTP, the sandbox, and a service that is killed. */
const FILES = ['test/contract', 'test/tasks', 'test/events', 'test/sandbox', 'test/http', 'test/faults/kill.test.ts']

const root = fileURLToPath(new URL('..', import.meta.url))
// Not in /tmp: a sandbox shows the folder of Node, and the tests check that its /tmp is empty.
mkdirSync(join(root, 'dist'), { recursive: true })
const folder = mkdtempSync(join(root, 'dist', '.node-'))
chmodSync(folder, 0o755)
try {
  process.exitCode = await testOnNode24()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function testOnNode24() {
  const missingTools = installTools()
  if (missingTools !== null) return fail(missingTools)
  for (const script of ['install.mjs', 'build.mjs'])
    if (run(process.execPath, [join(root, 'scripts', script)]) !== 0) return 1
  const node = await findNode24(folder)
  if (node === null) return fail('the npm registry did not send Node 24 for this platform')
  const files = process.argv.length > 2 ? process.argv.slice(2) : FILES
  return run(node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--retry=1', ...files])
}

/**
 * Programs that tests start by the name `node` are of the same version.
 * @param {string} program
 * @param {string[]} args
 */
function run(program, args) {
  const env = { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env['PATH'] ?? ''}` }
  return spawnSync(program, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1
}

/** @param {string} sentence */
function fail(sentence) {
  process.stderr.write(`svc: ${sentence}\n`)
  return 1
}
