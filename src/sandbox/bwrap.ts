import { execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { CELL_AGENT_DIR, CELL_SOCKET } from '../base/protocol.ts'
import { bwrapArguments, CELL_CUSTOM_DIR, type Furniture } from './bwrap-args.ts'
import { type CellProcess, cellOf, type Ending, hasPipes } from './cell.ts'
import type { CellSpec, Driver, Isolation } from './driver.ts'
import { workshopMb } from './limits.ts'
import { childrenOf, watchMemory } from './memory.ts'
import { findProgram, leakingDescriptors, nodeProgram, programAt, withCovered } from './programs.ts'
import { knownProcessor, seccompFilter } from './seccomp.ts'
import { giveSocket, makeSocketDir, userOfSocket } from './sockets.ts'
import { staging } from './staging.ts'
import { type CellUser, cellUsers } from './users.ts'

const SECCOMP_DESCRIPTOR = 3

/** Cells in namespaces of their own. Throws where bubblewrap is missing; that it works is known only after a probe. */
export function bwrapDriver(hide: string[]): Driver {
  const bwrap = requireBwrap()
  const furniture = furnish(hide)
  const filters = openFilters()
  const users = cellUsers()
  const leaks = leakingDescriptors()
  return {
    kind: 'bwrap',
    isolation: isolation(),
    socketInside: () => CELL_SOCKET,
    agentDirInside: () => CELL_AGENT_DIR,
    customDirInside: () => CELL_CUSTOM_DIR,
    socketDir: (parent) => makeSocketDir(parent, users()),
    prepareSocket: giveSocket,
    start(spec) {
      const words = bwrapArguments(spec, furniture, SECCOMP_DESCRIPTOR)
      const user = userOfSocket(spec.socket, users)
      const cell = cellOf(launch(bwrap, words, user, filters[spec.profile], leaks), spec.limits, ENDING)
      if (spec.profile === 'workshop') watchMemory(cell, workshopMb(spec.limits))
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

function furnish(hide: string[]): Furniture {
  const prlimit = findProgram('prlimit')
  if (prlimit === null) throw new Error('prlimit (package util-linux) is not installed')
  const staged = staging()
  return {
    node: nodeProgram(),
    prlimit: programAt(prlimit),
    source: staged.readable,
    hide: hide.filter((path) => path.startsWith('/usr/')),
  }
}

type Filters = Record<CellSpec['profile'], number>

/** The filters as open files without a name: nobody can change them, and nothing is left behind on the disk. */
function openFilters(): Filters {
  const processor = knownProcessor(process.arch)
  if (processor === null) throw new Error(`there is no system call filter for ${process.arch} processors`)
  const folder = mkdtempSync(join(tmpdir(), 'svc-filter-'))
  const open = (profile: CellSpec['profile']) => {
    const path = join(folder, profile)
    writeFileSync(path, seccompFilter(profile, processor), { mode: 0o600 })
    return openSync(path, 'r')
  }
  try {
    return { sealed: open('sealed'), workshop: open('workshop') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function launch(bwrap: string, words: string[], user: CellUser | null, filter: number, leaks: number[]): CellProcess {
  // Opened anew for each cell: a descriptor that is passed on shares its position, and the first cell reads to the end.
  const fresh = openSync(`/proc/self/fd/${filter}`, 'r')
  try {
    return withCovered(leaks, ['pipe', 'pipe', 'pipe', fresh], (stdio) => {
      const child = spawn(bwrap, words, { env: {}, cwd: '/', stdio, ...user })
      if (!hasPipes(child)) throw new Error('a cell was started without its pipes')
      return child
    })
  } finally {
    closeSync(fresh)
  }
}

const ENDING: Ending = {
  /**
   * The cell's first process is killed rather than bwrap, which waits for it: the kernel lets the first process of a
   * namespace go only after all others, so when bwrap ends nothing of the cell is left.
   */
  kill(pid) {
    const inside = childrenOf(pid)
    for (const child of inside) signal(child)
    if (inside.length === 0) signal(pid)
  },
  /** bwrap says 128 + n for a program that a signal ended, as a shell does. */
  read(code, signal) {
    const ended = code === null ? undefined : SIGNALS.get(code - 128)
    return ended === undefined ? { code, signal } : { code: null, signal: ended }
  },
  afterwards() {},
}

const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name] as const))

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself in the meantime.
  }
}

function isolation(): Isolation {
  return { network: true, files: true, processes: true, environment: true, syscalls: true, warnings: [] }
}
