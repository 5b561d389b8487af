import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cellNodeFlags } from './bwrap-arguments.ts'
import { type CellProcess, wrapCellProcess, type CellTermination } from './cell-process.ts'
import type { CellLimits, CellSpec, SandboxDriver, SandboxIsolation, SandboxLog } from './driver.ts'
import { dataLimitMb } from './cell-limits.ts'
import { giveSocketToCellUser, createSocketFolder, cellUserOfSocket } from './socket-folder.ts'
import { type Staging, createStaging, cellTemporaryFolder } from './staging.ts'
import { createCellUserAllocator } from './cell-users.ts'

/**
 * Cells as plain processes, for machines without bubblewrap. Node's permission model keeps honest code from files and
 * programs by accident; it is no wall against hostile code, and it leaves the network open.
 */
export function processDriver(log: SandboxLog): SandboxDriver {
  const staged = createStaging()
  const users = createCellUserAllocator()
  return {
    kind: 'process',
    isolation: processIsolation(),
    socketPathInside: (hostPath) => hostPath,
    agentDirInside: staged.readablePath,
    customDirInside: staged.readablePath,
    createSocketFolder: (parent) => createSocketFolder(parent, users()),
    prepareSocket: giveSocketToCellUser,
    start(spec) {
      if (spec.profile === 'workshop')
        log('WARNING: a program runs without a sandbox: files and network are open to it', 'warn')
      const user = cellUserOfSocket(spec.socket, users)
      const folder = mkdtempSync(join(cellTemporaryFolder(), 'svc-cell-'))
      if (user) chownSync(folder, user.uid, user.gid)
      const child: CellProcess = spawn(
        '/bin/sh',
        ['-c', LIMIT_AND_EXEC_SCRIPT, 'sh', ...scriptArguments(spec, folder, staged)],
        {
          env: processEnvironment(spec.profile, folder),
          cwd: spec.customDir === undefined ? folder : staged.readablePath(spec.customDir),
          stdio: ['pipe', 'pipe', 'pipe'],
          detached: true,
          ...user,
        },
      )
      return wrapCellProcess(child, spec.limits, processTermination(folder))
    },
  }
}

/** The shell sets the limits and becomes the program. One that the system does not know is no reason to stop. */
const LIMIT_AND_EXEC_SCRIPT = `
ulimit -c 0; ulimit -n 256
ulimit -f "$1" 2>/dev/null; ulimit -d "$2" 2>/dev/null
[ "$3" = 0 ] || ulimit -t "$3"
shift 3; exec "$@"`

function scriptArguments(spec: CellSpec, folder: string, staged: Staging): string[] {
  const [program, ...rest] = spec.command
  if (program === undefined) throw new Error('a cell needs a command')
  const limits = ulimitArguments(spec.limits)
  if (program !== 'node') {
    if (spec.profile === 'sealed') throw new Error(`a sealed cell runs node alone, not ${program}`)
    return [...limits, program, ...rest]
  }
  const readable = [spec.agentDir, ...(spec.customDir === undefined ? [] : [spec.customDir])].map(staged.readablePath)
  const fences =
    spec.profile === 'sealed'
      ? nodePermissionFlags(process.versions.node, [...readable, folder], folder, spec.socket !== null)
      : []
  return [...limits, staged.readablePath(process.execPath), ...fences, ...cellNodeFlags(spec), ...rest]
}

/** `ulimit` counts files in blocks of 512 bytes and memory in kilobytes. */
function ulimitArguments(limits: CellLimits): string[] {
  return [limits.file_mb * 2048, dataLimitMb(limits) * 1024, limits.cpu_s].map(String)
}

/** The flags of Node's permission model in that version of Node. */
export function nodePermissionFlags(
  version: string,
  readable: string[],
  writable: string,
  connects: boolean,
): string[] {
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

function processEnvironment(profile: CellSpec['profile'], folder: string): Record<string, string> {
  if (profile === 'sealed') return {}
  return { PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' }
}

/** Every cell leads a process group of its own; what it started and left behind goes with it. */
function processTermination(folder: string): CellTermination {
  return {
    kill: terminateGroup,
    read: (code, signal) => ({ code, signal }),
    afterwards(pid) {
      killGroup(pid)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What it started may lead groups of their own: the cell gets a moment to end them, then it is killed. */
function terminateGroup(pid: number): void {
  signalGroup(pid, 'SIGTERM')
  setTimeout(() => signalGroup(pid, 'SIGKILL'), TERMINATION_GRACE_MS).unref()
}

const TERMINATION_GRACE_MS = 100

const killGroup = (pid: number) => signalGroup(pid, 'SIGKILL')

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid === 0) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody is left in it.
  }
}

function processIsolation(): SandboxIsolation {
  const warnings = [
    'the process driver is not a security boundary: agents reach the network, signals and system calls of this machine',
    'programs other than node run with no protection of files at all',
  ]
  return { network: false, files: false, processes: false, environment: true, syscalls: false, warnings }
}
