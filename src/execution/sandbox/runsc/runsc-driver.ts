import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { cellMemoryMb, groupLimits, memoryExceeded } from '../cgroup/cell-limits.ts'
import { checkRepeatedly, listDescendants } from '../cgroup/cell-monitor.ts'
import type { CellResources } from '../cell-resources.ts'
import { type CellTermination, wrapCellProcess } from '../cell-process.ts'
import { createCellSetup } from '../cell-view.ts'
import type { CellSpec, SandboxCell, SandboxDriver } from '../driver.ts'
import { killProcess, parseShellExit } from '../host-process.ts'
import { type GroupedStart, type GroupSupport, prepareGroup, spawnInGroup } from '../cgroup/grouped-start.ts'
import { findProgram, listInheritedDescriptors } from '../host-programs.ts'
import { createRootFolder, keepCellFolder } from './oci-root.ts'
import { createRootedDriver } from '../rooted-driver.ts'
import { runscConfig } from './runsc-config.ts'
import { cpuSeconds, runscMemoryMb } from './runsc-usage.ts'
import { giveSocketToCellUser } from '../socket-folder.ts'
import { createStaging } from '../staging.ts'

/**
 * Runs each cell in gVisor, which answers the system calls of the cell in a process of its own. It is started without
 * root: a program that leaves gVisor is then in empty namespaces, with the rights of the cell's user.
 */
export function runscDriver(hide: string[], support: GroupSupport): SandboxDriver {
  const launch = requireRunsc()
  const staging = createStaging()
  // gVisor itself keeps a program from opening the memory of the process that started it.
  const setup = { ...createCellSetup(hide, staging), loader: null }
  const inherited = listInheritedDescriptors()
  const driver = createRootedDriver('runsc', support, staging, ({ spec, user, files, resources }) => {
    const folder = keepCellFolder(user, resources)
    const { config, mounts } = runscConfig(spec, setup, files)
    createRootFolder(join(folder, 'rootfs'), mounts)
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o644 })
    const grouped = prepareGroup(support.groups, spec, RUNSC_NEEDS, resources)
    const args = [...launch, `--root=${join(folder, 'state')}`, 'run', '--bundle', folder, basename(folder)]
    const child = spawnInGroup(args, { env: {}, ...user }, grouped, inherited)
    const cell = wrapCellProcess(child, spec.limits, runscTermination(grouped, resources), files)
    monitorRunsc(cell, spec, grouped.group === null)
    return cell
  })
  return { ...driver, prepareSocket }
}

function runscTermination(grouped: GroupedStart, resources: CellResources): CellTermination {
  let killed = false
  return {
    ...grouped.termination,
    // The first child waits for gVisor and for the process that opens files, so it is killed only if they do not exist.
    kill(pid) {
      killed = true
      const [first = pid, ...inside] = listDescendants(pid)
      for (const target of inside.length > 0 ? inside : [first]) killProcess(target)
    },
    parseExit: (code, signal) => (killed ? { code: null, signal: 'SIGKILL' } : parseShellExit(code, signal)),
    afterExit: () => resources.releaseAll(),
  }
}

/** The heaps of gVisor and of the process that opens files for it, and their threads. */
const RUNSC_NEEDS = { memoryMb: 64, processes: 128 }

/** gVisor does not end a program that has used its CPU seconds, so all processes of the cell together have them. */
function monitorRunsc(cell: SandboxCell, spec: CellSpec, countsMemory: boolean): void {
  const { memoryMb } = groupLimits(spec, RUNSC_NEEDS)
  const { cpu_s } = spec.limits
  checkRepeatedly(cell, () => {
    const processes = listDescendants(cell.pid)
    if (countsMemory && runscMemoryMb(processes) > memoryMb) return memoryExceeded(cellMemoryMb(spec))
    return cpu_s > 0 && cpuSeconds(processes) > cpu_s ? `the sandbox used more than ${cpu_s} seconds of CPU` : null
  })
}

/** The program with the arguments that are the same for all cells. */
function requireRunsc(): string[] {
  if (process.platform !== 'linux') throw new Error('gVisor is available on Linux only')
  const [runsc, setpriv] = ['runsc', 'setpriv'].map(findProgram)
  if (!runsc) throw new Error('gVisor (runsc) is not installed')
  if (!setpriv) throw new Error('setpriv (package util-linux) is not installed')
  const { stdout, stderr } = spawnSync(runsc, ['flags'], { encoding: 'utf8' })
  for (const flag of ['host-uds', 'oci-seccomp', 'rootless'])
    if (!`${stdout}${stderr}`.includes(`-${flag}`))
      throw new Error(`this version of runsc has no option --${flag} and is too old`)
  const dieWithService = [setpriv, '--pdeathsig', 'KILL', '--']
  return [
    ...dieWithService,
    runsc,
    '--rootless',
    '--ignore-cgroups',
    '--network=none',
    '--host-uds=open',
    '--oci-seccomp',
  ]
}

/** gVisor shows the user of the cell as root and its program is another user; the folder of the socket keeps others out. */
function prepareSocket(path: string): void {
  giveSocketToCellUser(path)
  if (process.getuid?.() === 0) chmodSync(path, 0o666)
}
