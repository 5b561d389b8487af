// Finds and installs the system programs that the tests need.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

const DEBIAN_POSTGRES = '/usr/lib/postgresql'
const DEBIAN_PYTHON = '/usr/bin/python3'
const MAC_CHROMES = ['Chromium', 'Google Chrome'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)

/** Debian installs both mail servers in a folder that only root has in the PATH. */
export const POSTFIX = '/usr/sbin/postfix'
export const DOVECOT = '/usr/sbin/dovecot'
const DOVECOT_IMAP = '/usr/lib/dovecot/imap'

const START_TIMEOUT_MS = 15_000

/** The programs of PostgreSQL that the tests start. */
const POSTGRES_PROGRAMS = ['initdb', 'pg_basebackup', 'postgres']

/** A program counts as installed only if it runs: the PATH may have links and wrappers that lead to nothing. */
const TOOLS = [
  { name: 'a PostgreSQL server', package: 'postgresql', isInstalled: () => postgresFolder() !== null },
  { name: 'PgBouncer', package: 'pgbouncer', isInstalled: () => pgbouncer() !== null },
  {
    name: 'bubblewrap',
    package: 'bubblewrap',
    // It exists only on Linux; on other systems the service runs agents as plain processes.
    isInstalled: () => process.platform !== 'linux' || runs('bwrap', '--version'),
  },
  // Sandboxes show the Python of the system only.
  {
    name: 'Python 3',
    package: 'python3',
    isInstalled: () => runs(process.platform === 'linux' ? DEBIAN_PYTHON : 'python3', '--version'),
  },
  { name: 'httpx for Python 3', package: 'python3-httpx', isInstalled: () => pythonWithHttpx() !== null },
  { name: 'venv for Python 3', package: 'python3-venv', isInstalled: () => pythonWithVenv() !== null },
  { name: 'HAProxy', package: 'haproxy', isInstalled: () => haproxyProgram() !== null },
  { name: 'promtool', package: 'prometheus', isInstalled: () => runs('promtool', '--version') },
  { name: 'OpenSSL', package: 'openssl', isInstalled: () => runs('openssl', 'version') },
  { name: 'ps', package: 'procps', isInstalled: () => runs('ps', '-o', 'stat=', '-p', String(process.pid)) },
  {
    name: 'an emulator for Helm',
    package: 'qemu-user',
    // Helm comes from npm and is built for x64 only; without an emulator the tests of the Helm chart are skipped.
    isInstalled: () => process.platform !== 'linux' || process.arch === 'x64' || runs('qemu-x86_64', '--version'),
  },
  { name: 'Chromium', package: 'chromium-headless-shell', isInstalled: () => chromium() !== null },
  // The tests start a mail server of their own, which needs root; other users skip those tests.
  { name: 'Postfix', package: 'postfix', isInstalled: () => !canRunMailServer() || hasPostfix() },
  { name: 'Dovecot', package: 'dovecot-imapd', isInstalled: () => !canRunMailServer() || hasDovecot() },
]

/** Their tests are skipped where these cannot be installed or do not work. On a new Debian machine they need 180 MB. */
const OPTIONAL_PACKAGES = ['runsc', 'strace', 'zsh', 'fish']

/** Installs missing tools if this user may. Returns null, or a sentence about the tools that are still missing. */
export function installTools() {
  const missing = TOOLS.filter((tool) => !tool.isInstalled())
  if (missing.length === 0) return null
  const names = missing.map((tool) => tool.name).join(', ')
  const packages = missing.map((tool) => tool.package)
  if (!runs('apt-get', '--version')) return `the tests need ${names}; install them and run the tests again.`
  const sudo = rootPrefix()
  if (sudo === null) {
    return `the tests need ${names}; run \`sudo apt-get install ${packages.join(' ')}\` and run the tests again.`
  }
  process.stderr.write(`svc: installing ${names} (apt-get) ...\n`)
  aptGet(sudo, ['update'])
  // Without an answer to this question, the package would configure and start a mail server on port 25.
  if (packages.includes('postfix')) answerDebconf(sudo, 'postfix postfix/main_mailer_type select No configuration')
  const install = ['install', '--yes', '--no-install-recommends']
  const output = aptGet(sudo, [...install, ...packages])
  aptGet(sudo, [...install, ...OPTIONAL_PACKAGES])
  if (missing.every((tool) => tool.isInstalled())) return null
  process.stderr.write(output)
  return `the tests need ${names}; apt-get could not install them, see above.`
}

/**
 * The folder with the programs of a PostgreSQL server. On Debian it is not in the PATH, and every version has its own
 * folder. A folder of the PATH may have links to some of the programs only, so links are followed first.
 */
export function postgresFolder() {
  const versions = listFolder(DEBIAN_POSTGRES).toSorted((a, b) => Number(b) - Number(a))
  const debian = versions.map((version) => join(DEBIAN_POSTGRES, version, 'bin'))
  const linked = searchPath().flatMap((folder) => realFolder(join(folder, 'postgres')))
  const folders = [...new Set([...linked, ...debian])]
  return folders.find((bin) => POSTGRES_PROGRAMS.every((program) => runsForOthers(join(bin, program)))) ?? null
}

/**
 * The folder of a program after all links; empty if there is no such program.
 * @param {string} program
 */
function realFolder(program) {
  return isExecutable(program) ? [dirname(realpathSync(program))] : []
}

/** The path of PgBouncer. On Debian it is in a folder that only root has in the PATH. */
export function pgbouncer() {
  const programs = [...searchPath(), '/usr/sbin'].map((folder) => join(folder, 'pgbouncer'))
  return programs.find((program) => runs(program, '--version')) ?? null
}

/** Why the tests cannot start a mail server here, or null. */
export function mailServerProblem() {
  if (process.platform !== 'linux') return 'Postfix and Dovecot are started on Linux only'
  if (process.getuid?.() !== 0) return 'Postfix starts only as root'
  return hasPostfix() && hasDovecot() ? null : 'Postfix or Dovecot is not installed'
}

/** `postfix` itself has no command that needs no configuration. */
function hasPostfix() {
  return existsSync(POSTFIX) && runs(join(dirname(POSTFIX), 'postconf'), '-d', 'mail_version')
}

function hasDovecot() {
  return existsSync(DOVECOT_IMAP) && runs(DOVECOT, '--version')
}

function canRunMailServer() {
  return process.platform === 'linux' && process.getuid?.() === 0
}

/** The Python that has the only dependency of the Python client. Debian installs it for its own Python. */
export function pythonWithHttpx() {
  return findPythonWith('httpx')
}

/** A Python that can make virtual environments: that of Debian before others, which sandboxes may not show. */
export function pythonWithVenv() {
  return findPythonWith('ensurepip')
}

/** @param {string} module */
function findPythonWith(module) {
  const candidates = [DEBIAN_PYTHON, ...searchPath().map((folder) => join(folder, 'python3'))].filter(isExecutable)
  return candidates.find((python) => runs(python, '-c', `import ${module}`)) ?? null
}

/** The load balancer of the tests. Debian installs it in a folder that only root has in the PATH. */
export function haproxyProgram() {
  const programs = [...searchPath(), '/usr/sbin'].map((folder) => join(folder, 'haproxy'))
  return programs.find((program) => runs(program, '-v')) ?? null
}

/** The browser that the console is tested in. The headless shell needs a third less CPU time than the whole browser. */
export function chromium() {
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
  const candidates = searchPath().flatMap((folder) => names.map((name) => join(folder, name)))
  return [...candidates, ...MAC_CHROMES].find((program) => runs(program, '--version')) ?? null
}

/**
 * @param {string} program A path, or a name that is looked up in the PATH.
 * @param {string[]} args
 */
function runs(program, ...args) {
  return spawnSync(program, args, { stdio: 'ignore', timeout: START_TIMEOUT_MS }).status === 0
}

/**
 * PostgreSQL refuses to run as root, so other users must be able to start it.
 * @param {string} program
 */
function runsForOthers(program) {
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  return spawnSync(program, ['--version'], { stdio: 'ignore', timeout: START_TIMEOUT_MS, ...user }).status === 0
}

/** The user `nobody`. */
const NOBODY = 65_534

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
 * Answers a question that a package would ask during its installation.
 * @param {string[]} sudo
 * @param {string} answer
 */
function answerDebconf(sudo, answer) {
  const [program, ...args] = [...sudo, 'debconf-set-selections']
  spawnSync(program ?? '', args, { input: `${answer}\n` })
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
