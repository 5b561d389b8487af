// `npm test`: installs dependencies and tools, builds, and runs the tests while it checks format, lint and types.
// On a fresh clone nothing is installed yet, so this file imports only modules of Node.js.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
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
const [build, testPackages, guidePackages] = await Promise.all([
  run([script('build.mjs')]),
  check('packages of the tests', [script('install.mjs'), 'test']),
  check('packages of the framework guides', [script('install.mjs'), 'test/frameworks']),
])
if (build.code !== 0 || !testPackages.isOk) process.exit(1)

const [tests, ...checks] = await Promise.all([
  vitest(process.argv.slice(2)),
  check('format', [bin('@biomejs/biome/bin/biome'), 'format', '.']),
  check('lint', [bin('oxlint/bin/oxlint'), '--type-aware']),
  check('types', [bin('typescript-native/bin/tsc'), '--noEmit']),
  check('types of the console', [bin('typescript-native/bin/tsc'), '--noEmit', '--project', 'console']),
])
// The checks end long before the tests, so that their output is far above.
const failedChecks = [guidePackages, ...checks].flatMap(({ name, isOk }) => (isOk ? [] : [name]))
if (failedChecks.length > 0) process.stdout.write(`\nFailed, see above: ${failedChecks.join(', ')}\n`)
process.stdout.write(`\nThe slowest files:\n${tests.slowest.join('')}\n`)
const failed = tests.failed + failedChecks.length
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
  return { name, isOk: code === 0 }
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
    const report = readReport(file)
    return { ...report, failed: code === 0 ? report.failed : Math.max(1, report.failed) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} file */
function readReport(file) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'))
    return {
      passed: Number(report.numPassedTests),
      failed: Number(report.numFailedTests),
      skipped: Number(report.numPendingTests) + Number(report.numTodoTests),
      slowest: slowestFiles(report.testResults),
    }
  } catch {
    return { passed: 0, failed: 0, skipped: 0, slowest: [] }
  }
}

/**
 * One line for each of the ten files that took longest.
 * @param {{ name: string, startTime: number, endTime: number }[]} files
 */
function slowestFiles(files) {
  return files
    .map(({ name, startTime, endTime }) => ({ name: relative(root, name), ms: endTime - startTime }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 10)
    .map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`)
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
