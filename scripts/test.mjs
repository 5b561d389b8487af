// `npm test`: installs dependencies and tools, builds, checks format, lint and types, and runs the tests.
// On a fresh clone nothing is installed yet, so this file imports only modules of Node.js.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installTools } from './machine.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  stop(`Node.js ${process.versions.node} is too old; install Node 24 LTS (20.19 is the oldest that works).`)
}
if ((await run([script('install.mjs')])).code !== 0) process.exit(1)
const missingTools = installTools()
if (missingTools !== null) stop(missingTools)
if ((await run([script('build.mjs')])).code !== 0) process.exit(1)

const checks = await Promise.all([
  check('packages of the framework guides', [script('install.mjs'), 'test/frameworks']),
  check('format', [bin('@biomejs/biome/bin/biome'), 'format', '.']),
  check('lint', [bin('oxlint/bin/oxlint'), '--type-aware']),
  check('types', [bin('typescript-native/bin/tsc'), '--noEmit']),
  check('types of the console', [bin('typescript-native/bin/tsc'), '--noEmit', '--project', 'console']),
])
const tests = await vitest(process.argv.slice(2))
const failed = tests.failed + checks.filter((ok) => !ok).length
const skipped = tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''
process.stdout.write(`${tests.passed} passed, ${failed} failed${skipped}\n`)
process.exitCode = failed === 0 && tests.passed > 0 ? 0 : 1

/**
 * @param {string} name
 * @param {string[]} args
 */
async function check(name, args) {
  const { code, output } = await run(args, 'pipe')
  process.stdout.write(code === 0 ? `${name}: ok\n` : `${output}\n${name}: failed\n`)
  return code === 0
}

/**
 * A run that fails without a failed test, such as by an error in a file, counts as one failure.
 * @param {string[]} args
 */
async function vitest(args) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
  try {
    const file = join(folder, 'report.json')
    const reporters = ['default', 'json', './test/second-attempts.ts'].map((name) => `--reporter=${name}`)
    const options = [...reporters, `--outputFile.json=${file}`, '--retry=1']
    const { code } = await run([bin('vitest/vitest.mjs'), 'run', ...options, ...args])
    const counts = readCounts(file)
    return { ...counts, failed: code === 0 ? counts.failed : Math.max(1, counts.failed) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} file */
function readCounts(file) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'))
    return {
      passed: Number(report.numPassedTests),
      failed: Number(report.numFailedTests),
      skipped: Number(report.numPendingTests) + Number(report.numTodoTests),
    }
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }
  }
}

/**
 * @param {string[]} args
 * @param {'inherit' | 'pipe'} output
 * @returns {Promise<{ code: number | null, output: string }>}
 */
function run(args, output = 'inherit') {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', output, output] })
    const stopChild = () => child.kill('SIGTERM')
    process.once('SIGTERM', stopChild)
    /** @type {string[]} */
    const chunks = []
    child.stdout?.setEncoding('utf8').on('data', (chunk) => chunks.push(chunk))
    child.stderr?.setEncoding('utf8').on('data', (chunk) => chunks.push(chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      process.off('SIGTERM', stopChild)
      resolve({ code, output: chunks.join('') })
    })
  })
}

/** @param {string} name */
function script(name) {
  return join(root, 'scripts', name)
}

/** @param {string} file */
function bin(file) {
  return join(root, 'node_modules', file)
}

/**
 * @param {string} sentence
 * @returns {never}
 */
function stop(sentence) {
  process.stderr.write(`svc: ${sentence}\n`)
  process.exit(1)
}
