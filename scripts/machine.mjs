// What the tests need from the machine itself, and how it gets there.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const DEBIAN_POSTGRES = '/usr/lib/postgresql'
const MAC_CHROMES = ['Chromium', 'Google Chrome'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)

const needs = [
  { what: 'a PostgreSQL server', package: 'postgresql', there: () => postgresFolder() !== null },
  // Only Linux has it; elsewhere the service runs its agents as plain processes.
  { what: 'bubblewrap', package: 'bubblewrap', there: () => process.platform !== 'linux' || onPath('bwrap') !== null },
  { what: 'Python 3', package: 'python3', there: () => onPath('python3') !== null },
  { what: 'Chromium', package: 'chromium', there: () => chromium() !== null },
]

/** Installs what is missing where that is allowed; answers with a sentence when it is not, else with null. */
export function bringTools() {
  const missing = needs.filter((need) => !need.there())
  if (missing.length === 0) return null
  const names = missing.map((need) => need.what).join(', ')
  const packages = missing.map((need) => need.package)
  if (onPath('apt-get') === null) return `missing for the tests: ${names}; install this and run them again.`
  const become = asRoot()
  if (become === null) {
    return `missing for the tests: ${names}; run \`sudo apt-get install ${packages.join(' ')}\`, then them again.`
  }
  process.stderr.write(`svc: installing ${names} (apt-get) ...\n`)
  aptGet(become, ['update'])
  const failed = aptGet(become, ['install', '--yes', '--no-install-recommends', ...packages])
  if (missing.every((need) => need.there())) return null
  process.stderr.write(failed)
  return `missing for the tests: ${names}; apt-get could not install this, see above.`
}

/** The folder with `initdb` and `postgres`: Debian keeps them out of the PATH, one folder for each version. */
export function postgresFolder() {
  const versions = folders(DEBIAN_POSTGRES).toSorted((a, b) => Number(b) - Number(a))
  const debian = versions.map((version) => join(DEBIAN_POSTGRES, version, 'bin'))
  return [...searchPath(), ...debian].find((bin) => runs(join(bin, 'initdb')) && runs(join(bin, 'postgres'))) ?? null
}

/** The browser that the console is tested in. */
export function chromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const candidates = searchPath().flatMap((folder) => names.map((name) => join(folder, name)))
  return [...candidates, ...MAC_CHROMES].find(runs) ?? null
}

/** @param {string} program */
function onPath(program) {
  return searchPath().find((folder) => runs(join(folder, program))) ?? null
}

function searchPath() {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
}

/** @param {string} folder */
function folders(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** @param {string} file */
function runs(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The words to put before a command so that it runs as root, or null when this user may not. */
function asRoot() {
  if (process.getuid?.() === 0) return []
  const sudo = ['sudo', '--non-interactive']
  return spawnSync('sudo', ['--non-interactive', 'true'], { stdio: 'ignore' }).status === 0 ? sudo : null
}

/**
 * Runs apt-get without a word and answers with what it would have said.
 * @param {string[]} become
 * @param {string[]} args
 */
function aptGet(become, args) {
  const [program = 'env', ...words] = [...become, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', ...args]
  const apt = spawnSync(program, words, { encoding: 'utf8' })
  return `${apt.stdout ?? ''}${apt.stderr ?? ''}`
}
