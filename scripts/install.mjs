// Installs the dependencies of this folder, or of the one that is named, if package-lock.json is newer than node_modules.
import { spawnSync } from 'node:child_process'
import { lstatSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(fileURLToPath(new URL('..', import.meta.url)), process.argv[2] ?? '.')

if (changedAt('node_modules/.package-lock.json') < changedAt('package-lock.json')) install()

/** @param {string} file */
function changedAt(file) {
  return statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function install() {
  // npm empties the folder first; a link may lead to the folder of another clone.
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) {
    process.stderr.write(
      'svc: node_modules is a link to another folder, and installing would empty that; remove the link.\n',
    )
    process.exitCode = 1
    return
  }
  process.stderr.write('svc: installing the dependencies (npm ci) ...\n')
  // The build needs the development dependencies, also under NODE_ENV=production. No dependency needs install scripts.
  const packages = ['--include=dev', '--include=optional', '--ignore-scripts']
  const output = ['--loglevel=error', '--prefer-offline', '--no-audit', '--no-fund']
  const retries = ['--fetch-retries=3', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000']
  const npm = spawnSync('npm', ['ci', ...packages, ...output, ...retries], { cwd: root, encoding: 'utf8' })
  if (npm.status === 0) return
  process.stderr.write(`svc: ${describeFailure(npm)}\n`)
  process.exitCode = 1
}

/** @param {import('node:child_process').SpawnSyncReturns<string>} npm */
function describeFailure(npm) {
  if (npm.error) return 'npm is not installed; it comes with Node.js: install it and run this again.'
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET/.test(npm.stderr)) {
    return (
      'the dependencies could not be fetched, because the npm registry cannot be reached; ' +
      "connect this machine to the network, or set npm's `registry` to one that it can reach, and run this again."
    )
  }
  // npm prints its whole help text after some errors; the cause is at the top.
  return `the dependencies could not be installed; npm says:\n${npm.stderr.split('\n').slice(0, 30).join('\n')}`
}
