// Builds, and runs tests on the newest version that the npm registry has of some major versions of Node, whatever version
// the machine has. `npm test` runs all tests on the machine's own version.
//   npm run test:node24                          the files below, on Node 24, the version of the image
//   npm run test:node24 -- test/work/tasks            these files
//   npm run test:frameworks                      the guides of all frameworks, on Node 20, 24 and 26: before a release
//   node scripts/test-node.mjs 20,26 test/work/tasks  other versions and files; a name that ends in .mjs is a script
import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fetchNewestNode } from './fetch-node.mjs'
import { installTools } from './machine.mjs'

/** The contract, tasks and their events over HTTP, the sandbox, and a service that is killed. */
const FILES = [
  'test/platform/contract',
  'test/work/tasks',
  'test/work/events',
  'test/execution/sandbox',
  'test/platform/http',
  'test/faults/kill.test.ts',
]

const root = fileURLToPath(new URL('..', import.meta.url))
const [majors = '24', ...files] = process.argv.slice(2)
process.exitCode = await testAll(majors.split(','), files.length > 0 ? files : FILES)

/**
 * @param {string[]} majorVersions
 * @param {string[]} names
 */
async function testAll(majorVersions, names) {
  const missingTools = installTools()
  if (missingTools !== null) return report(1, missingTools)
  for (const script of ['install.mjs', 'build.mjs'])
    if (run(process.execPath, [join(root, 'scripts', script)]) !== 0) return 1
  let code = 0
  // All versions are tried, so that one run shows all that is wrong.
  for (const major of majorVersions) code = (await testOn(major, names)) || code
  return code
}

/**
 * @param {string} major
 * @param {string[]} names
 */
async function testOn(major, names) {
  const newest = await fetchNewestNode(major)
  if (newest === null) return report(1, `the npm registry did not send Node ${major} for this platform`)
  const { version, program } = newest
  const tests = names.filter((name) => !name.endsWith('.mjs'))
  const scripts = names.filter((name) => name.endsWith('.mjs'))
  const vitest = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=./test/second-attempts.ts',
    '--retry=1',
    ...tests,
  ]
  const commands = [...(tests.length > 0 ? [vitest] : []), ...scripts.map((name) => [join(root, name)])]
  process.stderr.write(`svc: Node ${version}\n`)
  const codes = commands.map((args) => run(program, args))
  const failed = codes.find((code) => code !== 0)
  return failed === undefined ? report(0, `Node ${version} passed`) : report(failed, `Node ${version} failed`)
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

/**
 * @param {number} code
 * @param {string} sentence
 */
function report(code, sentence) {
  process.stderr.write(`svc: ${sentence}\n`)
  return code
}
