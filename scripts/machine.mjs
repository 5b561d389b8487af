// Finds and installs the system programs that the tests need.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const DEBIAN_POSTGRES = '/usr/lib/postgresql'
const MAC_CHROMES = ['Chromium', 'Google Chrome'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)

const TOOLS = [
  { name: 'a PostgreSQL server', package: 'postgresql', isInstalled: () => postgresFolder() !== null },
  {
    name: 'bubblewrap',
    package: 'bubblewrap',
    // It exists only on Linux; on other systems the service runs agents as plain processes.
    isInstalled: () => process.platform !== 'linux' || findOnPath('bwrap') !== null,
  },
  { name: 'Python 3', package: 'python3', isInstalled: () => findOnPath('python3') !== null },
  { name: 'Chromium', package: 'chromium', isInstalled: () => chromium() !== null },
]

/** Installs missing tools if this user may. Returns null, or a sentence about the tools that are still missing. */
export function installTools() {
  const missing = TOOLS.filter((tool) => !tool.isInstalled())
  if (missing.length === 0) return null
  const names = missing.map((tool) => tool.name).join(', ')
  const packages = missing.map((tool) => tool.package)
  if (findOnPath('apt-get') === null) return `the tests need ${names}; install them and run the tests again.`
  const sudo = rootPrefix()
  if (sudo === null) {
    return `the tests need ${names}; run \`sudo apt-get install ${packages.join(' ')}\` and run the tests again.`
  }
  process.stderr.write(`svc: installing ${names} (apt-get) ...\n`)
  aptGet(sudo, ['update'])
  const output = aptGet(sudo, ['install', '--yes', '--no-install-recommends', ...packages])
  if (missing.every((tool) => tool.isInstalled())) return null
  process.stderr.write(output)
  return `the tests need ${names}; apt-get could not install them, see above.`
}

/** The folder with `initdb` and `postgres`. On Debian it is not in the PATH, and every version has its own folder. */
export function postgresFolder() {
  const versions = listFolder(DEBIAN_POSTGRES).toSorted((a, b) => Number(b) - Number(a))
  const debian = versions.map((version) => join(DEBIAN_POSTGRES, version, 'bin'))
  return (
    [...searchPath(), ...debian].find((bin) =>
      ['initdb', 'postgres'].every((program) => isExecutable(join(bin, program))),
    ) ?? null
  )
}

/** The browser that the console is tested in. */
export function chromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const candidates = searchPath().flatMap((folder) => names.map((name) => join(folder, name)))
  return [...candidates, ...MAC_CHROMES].find(isExecutable) ?? null
}

/** @param {string} program */
function findOnPath(program) {
  return searchPath().find((folder) => isExecutable(join(folder, program))) ?? null
}

function searchPath() {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
}

/** @param {string} folder */
function listFolder(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The start of a command that runs as root; null if this user may not run one. */
function rootPrefix() {
  if (process.getuid?.() === 0) return []
  const sudo = ['sudo', '--non-interactive']
  return spawnSync('sudo', ['--non-interactive', 'true'], { stdio: 'ignore' }).status === 0 ? sudo : null
}

/**
 * Runs apt-get and returns its output.
 * @param {string[]} sudo
 * @param {string[]} args
 */
function aptGet(sudo, args) {
  const [program = 'env', ...rest] = [...sudo, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', ...args]
  const apt = spawnSync(program, rest, { encoding: 'utf8' })
  return `${apt.stdout ?? ''}${apt.stderr ?? ''}`
}
