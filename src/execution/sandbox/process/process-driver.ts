import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cellNodeFlags } from '../cell-view.ts'
import { type CellResources, startWithResources } from '../cell-resources.ts'
import { wrapCellProcess, type CellTermination, hasStdioPipes } from '../cell-process.ts'
import type { CellLimits, CellSpec, SandboxDriver, SandboxIsolation, SandboxLog } from '../driver.ts'
import { dataLimitMb } from '../cgroup/cell-limits.ts'
import { keepFilesFolder, linkFilesFolder, removeOrphanedFilesFolders } from '../files-folder.ts'
import {
  FIRST_DESCRIPTOR,
  type GroupedStart,
  type GroupSupport,
  prepareGroup,
  waitForGate,
} from '../cgroup/grouped-start.ts'
import { giveSocketToCellUser, createSocketFolder, cellUserOfSocket } from '../socket-folder.ts'
import { type Staging, createStaging, cellTemporaryFolder } from '../staging.ts'
import { createCellUserAllocator } from '../cell-users.ts'

/**
 * Runs cells as ordinary processes, for machines without bubblewrap. The permission model of Node protects files and
 * programs against mistakes; it is not a security boundary against hostile code, and it leaves the network open.
 */
export function processDriver(log: SandboxLog, { groups, limiting }: GroupSupport): SandboxDriver {
  const staging = createStaging()
  const users = createCellUserAllocator()
  removeOrphanedFilesFolders()
  return {
    kind: 'process',
    isolation: processIsolation(),
    canLoopback: true,
    limiting,
    socketPathInside: (hostPath) => hostPath,
    agentDirInside: staging.readablePath,
    customDirInside: staging.readablePath,
    stageFolder: staging.stageFolder,
    createSocketFolder: (parent) => createSocketFolder(parent, users()),
    prepareSocket: giveSocketToCellUser,
    start: (spec) =>
      startWithResources((resources) => {
        if (spec.profile === 'workshop')
          log('WARNING: a program runs without a sandbox: it can access files and the network', 'warn')
        const user = cellUserOfSocket(spec.socket, users)
        const folder = mkdtempSync(join(cellTemporaryFolder(), `svc-cell-${process.pid}-`))
        resources.keep(() => rmSync(folder, { recursive: true, force: true }))
        if (user) chownSync(folder, user.uid, user.gid)
        const filesFolder = keepFilesFolder(spec, user, resources)
        if (filesFolder !== null) linkFilesFolder(filesFolder, folder)
        const grouped = prepareGroup(groups, spec, { memoryMb: 0, processes: 0 }, resources)
        const script =
          grouped.group === null ? LIMIT_AND_EXEC_SCRIPT : waitForGate(FIRST_DESCRIPTOR) + LIMIT_AND_EXEC_SCRIPT
        const child = spawn('/bin/sh', ['-c', script, 'sh', ...scriptArguments(spec, folder, filesFolder, staging)], {
          env: processEnvironment(spec, folder),
          cwd: spec.customDir === undefined ? folder : staging.readablePath(spec.customDir),
          stdio: ['pipe', 'pipe', 'pipe', ...grouped.gate],
          detached: true,
          ...user,
        })
        if (!hasStdioPipes(child)) throw new Error('a cell was started without its pipes')
        void grouped.admit(child, FIRST_DESCRIPTOR)
        const files = filesFolder === null ? null : { host: filesFolder, inside: filesFolder }
        return wrapCellProcess(child, spec.limits, processTermination(grouped, resources), files)
      }),
  }
}

/** The shell sets the limits and is then replaced by the program. A limit that the system lacks is skipped. */
const LIMIT_AND_EXEC_SCRIPT = `
ulimit -c 0; ulimit -n "$4" 2>/dev/null
ulimit -f "$1" 2>/dev/null; ulimit -d "$2" 2>/dev/null
[ "$3" = 0 ] || ulimit -t "$3"
shift 4; exec "$@"`

function scriptArguments(spec: CellSpec, folder: string, filesFolder: string | null, staging: Staging): string[] {
  const [program, ...rest] = spec.command
  if (program === undefined) throw new Error('a cell needs a command')
  const limits = ulimitArguments(spec.limits)
  if (program !== 'node') {
    if (spec.profile === 'sealed') throw new Error(`a sealed cell can only run node, not ${program}`)
    return [...limits, program, ...rest]
  }
  const readable = [spec.agentDir, ...(spec.customDir === undefined ? [] : [spec.customDir])].map(staging.readablePath)
  if (filesFolder !== null) readable.push(filesFolder)
  const permissionFlags =
    spec.profile === 'sealed'
      ? nodePermissionFlags(process.versions.node, [...readable, folder], folder, spec.socket !== null)
      : []
  return [...limits, staging.readablePath(process.execPath), ...permissionFlags, ...cellNodeFlags(spec), ...rest]
}

/** `ulimit` counts files in blocks of 512 bytes and memory in kilobytes. */
function ulimitArguments(limits: CellLimits): string[] {
  return [limits.file_mb * 2048, dataLimitMb(limits) * 1024, limits.cpu_s, limits.open_files].map(String)
}

/** The flags of the permission model in this version of Node. */
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
    // node:sqlite opens files without asking the permission model.
    ...(major > 22 || (major === 22 && minor >= 5) ? ['--no-experimental-sqlite'] : []),
    // From version 25 on the permission model also blocks the network, including the socket of the cell.
    ...(major >= 25 && connects ? ['--allow-net', '--disable-warning=ExperimentalWarning'] : []),
  ]
}

function processEnvironment({ profile, customDir }: CellSpec, folder: string): Record<string, string> {
  // A program that starts in its own folder could not find the only one to which it may write.
  if (profile === 'sealed') return customDir === undefined ? {} : { HOME: folder, TMPDIR: folder }
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'}`
  return { PATH: path, HOME: folder, LANG: 'C.UTF-8' }
}

/** Every cell leads its own process group, so its children are killed with it. */
function processTermination(grouped: GroupedStart, resources: CellResources): CellTermination {
  return {
    ...grouped.termination,
    kill(pid) {
      if (grouped.group === null) return terminateGroup(pid)
      killGroup(pid) // First, so that the cell also ends if its cgroup cannot be killed.
      grouped.group.kill()
    },
    parseExit: (code, signal) => ({ code, signal }),
    afterExit(pid) {
      killGroup(pid)
      resources.releaseAll()
    },
  }
}

/** Children of the cell may lead their own groups: the cell gets a moment to end them before it is killed. */
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
    // No process of the group is left.
  }
}

function processIsolation(): SandboxIsolation {
  const warnings = [
    'the process driver is not a security boundary: agents can use the network, signals and system calls of this machine',
    'programs other than node can read and write all files that the service can',
  ]
  return { network: false, files: false, processes: false, environment: true, syscalls: false, warnings }
}
