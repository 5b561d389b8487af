import { execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bwrapArguments } from './bwrap-arguments.ts'
import { createLimitedSetup } from './limited-command.ts'
import { usesLoader } from '../cell-view.ts'
import { type CellProcess, wrapCellProcess, type CellTermination, hasStdioPipes } from '../cell-process.ts'
import type { SandboxDriver } from '../driver.ts'
import { killProcess, parseShellExit } from '../host-process.ts'
import { workshopMemoryMb } from '../cgroup/cell-limits.ts'
import { findFirstProcess, monitorCell } from '../cgroup/cell-monitor.ts'
import { findProgram, listInheritedDescriptors, withDescriptorsCovered } from '../host-programs.ts'
import { FIRST_DESCRIPTOR, type GroupSupport, prepareGroup } from '../cgroup/grouped-start.ts'
import { loopbackArguments, SERVICE_NETWORK } from '../loopback-helper.ts'
import { parseCpuArchitecture, buildSeccompFilter, type FilterProfile } from '../seccomp/seccomp-filter.ts'
import { createRootedDriver } from '../rooted-driver.ts'
import { createStaging } from '../staging.ts'
import type { CellUser } from '../cell-users.ts'

/** Runs each cell in its own Linux namespaces. Throws if bubblewrap is missing; `probeDriver` checks that it works. */
export function bwrapDriver(hide: string[], support: GroupSupport): SandboxDriver {
  const bwrap = requireBwrap()
  const staging = createStaging()
  const setup = createLimitedSetup(hide, staging)
  const filters = openSeccompFilters()
  const inherited = listInheritedDescriptors()
  return createRootedDriver('bwrap', support, staging, ({ spec, user, files, resources }) => {
    // Opened for each cell: a shared descriptor also shares its read position, and the first cell reads to the end.
    const filter = filters[spec.hasLoopback ? 'loopback' : spec.profile]
    const given = [`/proc/self/fd/${filter}`, ...(usesLoader(spec, setup) ? [setup.loader ?? ''] : [])]
    const inner = bwrapArguments(spec, setup, files)
    const network = FIRST_DESCRIPTOR + given.length
    if (spec.hasLoopback) given.push(SERVICE_NETWORK)
    const grouped = prepareGroup(support.groups, spec, BWRAP_NEEDS, resources)
    const gate = FIRST_DESCRIPTOR + given.length
    // With a cgroup, bwrap reads further arguments from a pipe, which ends without any when bwrap is in the cgroup.
    const wait = grouped.gate.flatMap(() => ['--args', String(gate)])
    const args = [...wait, ...(spec.hasLoopback ? loopbackArguments(bwrap, network, inner) : inner)]
    const child = withOpenFiles(given, (descriptors) =>
      spawnBwrap(bwrap, args, user, [...descriptors, ...grouped.gate], inherited),
    )
    void grouped.admit(child, gate)
    const termination = { ...BWRAP_TERMINATION, ...grouped.termination, afterExit: () => resources.releaseAll() }
    const cell = wrapCellProcess(child, spec.limits, termination, files)
    monitorCell(cell, spec.profile === 'workshop' && grouped.group === null ? workshopMemoryMb(spec.limits) : null)
    return cell
  })
}

function requireBwrap(): string {
  if (process.platform !== 'linux') throw new Error('bubblewrap is available on Linux only')
  const path = findProgram('bwrap')
  if (path === null) throw new Error('bubblewrap (bwrap) is not installed')
  const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim()
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number)
  if (major === 0 && minor < 8) throw new Error(`${version} is too old`)
  return path
}

/** bwrap waits in one or two processes outside of the cell, and a loopback port needs one more. */
const BWRAP_NEEDS = { memoryMb: 0, processes: 4 }

type SeccompDescriptors = Record<FilterProfile, number>

/** The filters as open, already deleted files: no other process can change them, and no file stays on the disk. */
function openSeccompFilters(): SeccompDescriptors {
  const architecture = parseCpuArchitecture(process.arch)
  if (architecture === null) throw new Error(`there is no system call filter for ${process.arch} processors`)
  const folder = mkdtempSync(join(tmpdir(), 'svc-filter-'))
  const open = (profile: FilterProfile) => {
    const path = join(folder, profile)
    writeFileSync(path, buildSeccompFilter(profile, architecture), { mode: 0o600 })
    return openSync(path, 'r')
  }
  try {
    return { sealed: open('sealed'), workshop: open('workshop'), loopback: open('loopback') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** `descriptors`: the filter and the loader, in the order of bwrap-arguments.ts, and the network for the loopback helper. */
function spawnBwrap(
  bwrap: string,
  args: string[],
  user: CellUser | null,
  descriptors: (number | 'pipe')[],
  inherited: number[],
): CellProcess {
  return withDescriptorsCovered(inherited, ['pipe', 'pipe', 'pipe', ...descriptors], (stdio) => {
    // Its own session, because a terminal or a supervisor sends the signals of the service to its process group.
    const child = spawn(bwrap, args, { env: {}, cwd: '/', stdio, detached: true, ...user })
    if (!hasStdioPipes(child)) throw new Error('a cell was started without its pipes')
    return child
  })
}

function withOpenFiles<T>(paths: string[], use: (descriptors: number[]) => T): T {
  const descriptors: number[] = []
  try {
    for (const path of paths) descriptors.push(openSync(path, 'r'))
    return use(descriptors)
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

const BWRAP_TERMINATION: Omit<CellTermination, 'afterExit'> = {
  /**
   * Kills the first process of the cell and not bwrap, which waits for it: the kernel ends the first process of a
   * namespace only after all others, so when bwrap exits no process of the cell is left.
   */
  kill(pid) {
    killProcess(findFirstProcess(pid) ?? pid)
  },
  parseExit: parseShellExit,
}
