import { execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { CELL_AGENT_DIR, CELL_SOCKET } from '../contract/agent-protocol.ts'
import { bwrapArguments, CELL_CUSTOM_DIR, type BwrapSetup } from './bwrap-arguments.ts'
import { type CellProcess, wrapCellProcess, type CellTermination, hasStdioPipes } from './cell-process.ts'
import type { CellSpec, SandboxDriver, SandboxIsolation } from './driver.ts'
import { workshopMemoryMb } from './cell-limits.ts'
import { listChildProcesses, monitorCellMemory } from './memory-monitor.ts'
import {
  findProgram,
  listInheritedDescriptors,
  inspectOwnNode,
  inspectProgram,
  withDescriptorsCovered,
} from './host-programs.ts'
import { parseCpuArchitecture, buildSeccompFilter } from './seccomp-filter.ts'
import { giveSocketToCellUser, createSocketFolder, cellUserOfSocket } from './socket-folder.ts'
import { createStaging } from './staging.ts'
import { type CellUser, createCellUserAllocator } from './cell-users.ts'

const SECCOMP_DESCRIPTOR = 3

/** Cells in namespaces of their own. Throws where bubblewrap is missing; that it works is known only after a probe. */
export function bwrapDriver(hide: string[]): SandboxDriver {
  const bwrap = requireBwrap()
  const furniture = createBwrapSetup(hide)
  const filters = openSeccompFilters()
  const users = createCellUserAllocator()
  const leaks = listInheritedDescriptors()
  return {
    kind: 'bwrap',
    isolation: bwrapIsolation(),
    socketPathInside: () => CELL_SOCKET,
    agentDirInside: () => CELL_AGENT_DIR,
    customDirInside: () => CELL_CUSTOM_DIR,
    createSocketFolder: (parent) => createSocketFolder(parent, users()),
    prepareSocket: giveSocketToCellUser,
    start(spec) {
      const words = bwrapArguments(spec, furniture, SECCOMP_DESCRIPTOR)
      const user = cellUserOfSocket(spec.socket, users)
      const cell = wrapCellProcess(
        spawnBwrap(bwrap, words, user, filters[spec.profile], leaks),
        spec.limits,
        BWRAP_TERMINATION,
      )
      if (spec.profile === 'workshop') monitorCellMemory(cell, workshopMemoryMb(spec.limits))
      return cell
    },
  }
}

function requireBwrap(): string {
  if (process.platform !== 'linux') throw new Error('bubblewrap exists for Linux only')
  const path = findProgram('bwrap')
  if (path === null) throw new Error('bubblewrap (bwrap) is not installed')
  const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim()
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number)
  if (major === 0 && minor < 8) throw new Error(`${version} is too old`)
  return path
}

function createBwrapSetup(hide: string[]): BwrapSetup {
  const prlimit = findProgram('prlimit')
  if (prlimit === null) throw new Error('prlimit (package util-linux) is not installed')
  const staged = createStaging()
  return {
    node: inspectOwnNode(),
    prlimit: inspectProgram(prlimit),
    source: staged.readablePath,
    hide: hide.filter((path) => path.startsWith('/usr/')),
  }
}

type SeccompDescriptors = Record<CellSpec['profile'], number>

/** The filters as open files without a name: nobody can change them, and nothing is left behind on the disk. */
function openSeccompFilters(): SeccompDescriptors {
  const processor = parseCpuArchitecture(process.arch)
  if (processor === null) throw new Error(`there is no system call filter for ${process.arch} processors`)
  const folder = mkdtempSync(join(tmpdir(), 'svc-filter-'))
  const open = (profile: CellSpec['profile']) => {
    const path = join(folder, profile)
    writeFileSync(path, buildSeccompFilter(profile, processor), { mode: 0o600 })
    return openSync(path, 'r')
  }
  try {
    return { sealed: open('sealed'), workshop: open('workshop') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function spawnBwrap(
  bwrap: string,
  words: string[],
  user: CellUser | null,
  filter: number,
  leaks: number[],
): CellProcess {
  // Opened anew for each cell: a descriptor that is passed on shares its position, and the first cell reads to the end.
  const fresh = openSync(`/proc/self/fd/${filter}`, 'r')
  try {
    return withDescriptorsCovered(leaks, ['pipe', 'pipe', 'pipe', fresh], (stdio) => {
      const child = spawn(bwrap, words, { env: {}, cwd: '/', stdio, ...user })
      if (!hasStdioPipes(child)) throw new Error('a cell was started without its pipes')
      return child
    })
  } finally {
    closeSync(fresh)
  }
}

const BWRAP_TERMINATION: CellTermination = {
  /**
   * The cell's first process is killed rather than bwrap, which waits for it: the kernel lets the first process of a
   * namespace go only after all others, so when bwrap ends nothing of the cell is left.
   */
  kill(pid) {
    const inside = listChildProcesses(pid)
    for (const child of inside) killProcess(child)
    if (inside.length === 0) killProcess(pid)
  },
  /** bwrap says 128 + n for a program that a signal ended, as a shell does. */
  read(code, signal) {
    const ended = code === null ? undefined : SIGNAL_NAMES.get(code - 128)
    return ended === undefined ? { code, signal } : { code: null, signal: ended }
  },
  afterwards() {},
}

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name] as const))

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself in the meantime.
  }
}

function bwrapIsolation(): SandboxIsolation {
  return { network: true, files: true, processes: true, environment: true, syscalls: true, warnings: [] }
}
