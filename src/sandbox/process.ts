import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { nodeFlags } from './bwrap-args.ts'
import { type CellProcess, cellOf, type Ending } from './cell.ts'
import type { CellLimits, CellSpec, Driver, Isolation, Log } from './driver.ts'
import { dataMb } from './limits.ts'
import { giveSocket, makeSocketDir, userOfSocket } from './sockets.ts'
import { type Staging, staging, temporaryFolder } from './staging.ts'
import { cellUsers } from './users.ts'

/**
 * Cells as plain processes, for machines without bubblewrap. Node's permission model keeps honest code from files and
 * programs by accident; it is no wall against hostile code, and it leaves the network open.
 */
export function processDriver(log: Log): Driver {
  const staged = staging()
  const users = cellUsers()
  return {
    kind: 'process',
    isolation: isolation(),
    socketInside: (hostPath) => hostPath,
    agentDirInside: staged.readable,
    customDirInside: staged.readable,
    socketDir: (parent) => makeSocketDir(parent, users()),
    prepareSocket: giveSocket,
    start(spec) {
      if (spec.profile === 'workshop')
        log('WARNING: a program runs without a sandbox: files and network are open to it', 'warn')
      const user = userOfSocket(spec.socket, users)
      const folder = mkdtempSync(join(temporaryFolder(), 'svc-cell-'))
      if (user) chownSync(folder, user.uid, user.gid)
      const child: CellProcess = spawn('/bin/sh', ['-c', LIMITED, 'sh', ...words(spec, folder, staged)], {
        env: environment(spec.profile, folder),
        cwd: spec.customDir === undefined ? folder : staged.readable(spec.customDir),
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: true,
        ...user,
      })
      return cellOf(child, spec.limits, endingIn(folder))
    },
  }
}

/** The shell sets the limits and becomes the program. One that the system does not know is no reason to stop. */
const LIMITED = `
ulimit -c 0; ulimit -n 256
ulimit -f "$1" 2>/dev/null; ulimit -d "$2" 2>/dev/null
[ "$3" = 0 ] || ulimit -t "$3"
shift 3; exec "$@"`

function words(spec: CellSpec, folder: string, staged: Staging): string[] {
  const [program, ...rest] = spec.command
  if (program === undefined) throw new Error('a cell needs a command')
  const limits = shellLimits(spec.limits)
  if (program !== 'node') {
    if (spec.profile === 'sealed') throw new Error(`a sealed cell runs node alone, not ${program}`)
    return [...limits, program, ...rest]
  }
  const readable = [spec.agentDir, ...(spec.customDir === undefined ? [] : [spec.customDir])].map(staged.readable)
  const fences =
    spec.profile === 'sealed'
      ? permissionFlags(process.versions.node, [...readable, folder], folder, spec.socket !== null)
      : []
  return [...limits, staged.readable(process.execPath), ...fences, ...nodeFlags(spec), ...rest]
}

/** `ulimit` counts files in blocks of 512 bytes and memory in kilobytes. */
function shellLimits(limits: CellLimits): string[] {
  return [limits.file_mb * 2048, dataMb(limits) * 1024, limits.cpu_s].map(String)
}

/** The flags of Node's permission model in that version of Node. */
export function permissionFlags(version: string, readable: string[], writable: string, connects: boolean): string[] {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const stable = major >= 24 || (major === 23 && minor >= 5) || (major === 22 && minor >= 13)
  return [
    stable ? '--permission' : '--experimental-permission',
    ...(stable ? [] : ['--no-warnings']),
    ...readable.map((path) => `--allow-fs-read=${path}/*`),
    `--allow-fs-write=${writable}/*`,
    // node:sqlite opens any file past the permission model.
    ...(major > 22 || (major === 22 && minor >= 5) ? ['--no-experimental-sqlite'] : []),
    // From 25 on the network is closed too, and with it the cell's own socket.
    ...(major >= 25 && connects ? ['--allow-net'] : []),
  ]
}

function environment(profile: CellSpec['profile'], folder: string): Record<string, string> {
  if (profile === 'sealed') return {}
  return { PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' }
}

/** Every cell leads a process group of its own; what it started and left behind goes with it. */
function endingIn(folder: string): Ending {
  return {
    kill: endGroup,
    read: (code, signal) => ({ code, signal }),
    afterwards(pid) {
      killGroup(pid)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What it started may lead groups of their own: the cell gets a moment to end them, then it is killed. */
function endGroup(pid: number): void {
  signalGroup(pid, 'SIGTERM')
  setTimeout(() => signalGroup(pid, 'SIGKILL'), GRACE_MS).unref()
}

const GRACE_MS = 100

const killGroup = (pid: number) => signalGroup(pid, 'SIGKILL')

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid === 0) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody is left in it.
  }
}

function isolation(): Isolation {
  const warnings = [
    'the process driver is not a security boundary: agents reach the network, signals and system calls of this machine',
    'programs other than node run with no protection of files at all',
  ]
  return { network: false, files: false, processes: false, environment: true, syscalls: false, warnings }
}
