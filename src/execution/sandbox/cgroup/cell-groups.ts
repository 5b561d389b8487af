import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { cleanUpAtExit } from '../cell-resources.ts'
import { readProcFile } from '../host-process.ts'

/** Creates a cgroup (version 2) for each cell, in which the kernel limits all its processes together. */
export interface CellGroups {
  create(limits: GroupLimits): CellGroup
}

export interface GroupLimits {
  memoryMb: number
  processes: number
}

export interface CellGroup {
  /** Moves a process into the group. Processes that it starts later are in the group from their first moment. */
  add(pid: number): Promise<void>
  /** Whether the kernel ended the processes of the group because of their own limit of memory, not of that of another group. */
  exceededMemory(): boolean
  /** Kills all processes of the group, including those that left their session. */
  kill(): void
  /** Kills what is left and removes the group; resolves when it is gone. */
  remove(): Promise<void>
}

type Controller = 'memory' | 'pids'

/** In the group of the service, beside those of its cells: a group with controllers may have processes only in its parts. */
const SERVICE_GROUP = 'svc-service'
const CELLS_PREFIX = 'svc-cells-'

/** Throws with a sentence if no cgroup is delegated to this service. */
export function openCellGroups(
  own: string = findOwnGroup(),
  controllers: Controller[] = ['memory', 'pids'],
): CellGroups {
  // A service that has moved itself looks for the group that was delegated to it, not for the part that it is in now.
  const parent = prepareParent(basename(own) === SERVICE_GROUP ? dirname(own) : own, controllers)
  return {
    create({ memoryMb, processes }) {
      const group = mkdtempSync(join(parent, 'cell-'))
      try {
        if (controllers.includes('memory')) limitMemory(group, memoryMb)
        if (controllers.includes('pids')) writeFileSync(join(group, 'pids.max'), String(processes))
      } catch (error) {
        removeEmptyGroup(group)
        throw error
      }
      return openGroup(group)
    },
  }
}

/** The folder of the cgroup that this process is in. */
function findOwnGroup(): string {
  const path = /^0::(.*)$/m.exec(readProcFile('/proc/self/cgroup'))?.[1]
  // The fields of a mount: id, parent, device, root, mount point, options; the file system follows after " - ".
  const mount = /^\S+ \S+ \S+ (\S+) (\S+) .*- cgroup2 /m.exec(readProcFile('/proc/self/mountinfo'))
  if (path === undefined || mount?.[2] === undefined) throw new Error('this machine has no cgroup v2')
  if (path.startsWith('/..') || mount[1] !== '/') throw new Error('the cgroup of this service is not mounted')
  return join(mount[2], path)
}

/** Returns the folder below which groups of cells can be made. */
function prepareParent(own: string, controllers: Controller[]): string {
  const available = readWords(join(own, 'cgroup.controllers'))
  const missing = controllers.filter((name) => !available.includes(name))
  if (missing.length > 0)
    throw new Error(`the cgroup v2 of this service lacks the controllers ${missing.join(' and ')}`)
  if (/\.(scope|slice)$/.test(own))
    throw new Error('the cgroup belongs to a login session: start the service as a unit')
  requireWritable(own)
  const isRoot = !existsSync(join(own, 'cgroup.type'))
  if (!isRoot && !existsSync(join(own, 'cgroup.kill')))
    throw new Error('this kernel cannot kill a cgroup (Linux 5.14 and newer can)')
  if (!isRoot) moveOwnProcesses(own)
  enableControllers(own, controllers)
  removeOrphanedGroups(own)
  const parent = join(own, `${CELLS_PREFIX}${process.pid}`)
  mkdirSync(parent, { recursive: true })
  enableControllers(parent, controllers)
  cleanUpAtExit(() => removeEmptyGroup(parent))
  return parent
}

function requireWritable(own: string): void {
  try {
    for (const name of ['', 'cgroup.procs', 'cgroup.subtree_control']) accessSync(join(own, name), constants.W_OK)
  } catch {
    throw new Error('no cgroup is delegated to this service (systemd: Delegate=yes)')
  }
}

/** Moves this process and the programs that started it, such as a shell or the init program of a container. */
function moveOwnProcesses(own: string): void {
  const inside = readWords(join(own, 'cgroup.procs')).map(Number)
  const allowed = listAncestors(process.pid)
  if (inside.some((pid) => !allowed.includes(pid))) throw new Error('other programs are in the cgroup of this service')
  const group = join(own, SERVICE_GROUP)
  mkdirSync(group, { recursive: true })
  for (const pid of inside) writeFileSync(join(group, 'cgroup.procs'), String(pid))
}

function listAncestors(pid: number): number[] {
  const parent = Number(/^PPid:\s*(\d+)/m.exec(readProcFile(`/proc/${pid}/status`))?.[1] ?? 0)
  return parent === 0 ? [pid] : [pid, ...listAncestors(parent)]
}

function enableControllers(group: string, controllers: Controller[]): void {
  const enabled = readWords(join(group, 'cgroup.subtree_control'))
  const wanted = controllers.filter((name) => !enabled.includes(name)).map((name) => `+${name}`)
  if (wanted.length > 0) writeFileSync(join(group, 'cgroup.subtree_control'), wanted.join(' '))
}

/** Of services that were killed. A group with processes cannot be removed, so nothing that runs is lost. */
function removeOrphanedGroups(own: string): void {
  const orphaned = readdirSync(own).filter((name) => {
    const pid = name.startsWith(CELLS_PREFIX) ? name.slice(CELLS_PREFIX.length) : null
    return pid !== null && !existsSync(`/proc/${pid}`)
  })
  for (const name of orphaned) {
    const cells = join(own, name)
    for (const cell of readdirSync(cells)) if (cell.startsWith('cell-')) removeEmptyGroup(join(cells, cell))
    removeEmptyGroup(cells)
  }
}

function limitMemory(group: string, memoryMb: number): void {
  writeFileSync(join(group, 'memory.max'), String(memoryMb * 1024 * 1024))
  // A kernel without swap has no such file.
  const swap = join(group, 'memory.swap.max')
  if (existsSync(swap)) writeFileSync(swap, '0')
  writeFileSync(join(group, 'memory.oom.group'), '1')
}

function openGroup(group: string): CellGroup {
  const kill = () => {
    try {
      writeFileSync(join(group, 'cgroup.kill'), '1')
    } catch (error) {
      if (existsSync(group))
        throw new Error(`the cgroup of a cell cannot be ended: ${errorMessage(error)}`, { cause: error })
    }
  }
  return {
    // The kernel first waits until no process of the machine is being forked, which takes several milliseconds.
    add: (pid) => writeFile(join(group, 'cgroup.procs'), String(pid)),
    // `oom` counts at the group whose limit was reached, `oom_kill` at the group of the killed process.
    exceededMemory: () => /^oom [1-9]\d*\noom_kill [1-9]/m.test(readProcFile(join(group, 'memory.events'))),
    kill,
    async remove() {
      // A process leaves its group a moment after its parent has noticed its end.
      for (let attempt = 0; attempt < MAX_REMOVE_ATTEMPTS && !removeEmptyGroup(group); attempt++) {
        kill()
        await new Promise((resolve) => setTimeout(resolve, REMOVE_INTERVAL_MS))
      }
    },
  }
}

const MAX_REMOVE_ATTEMPTS = 500
const REMOVE_INTERVAL_MS = 10

/** False if the group still has processes. */
function removeEmptyGroup(group: string): boolean {
  try {
    rmdirSync(group)
    return true
  } catch {
    return !existsSync(group)
  }
}

function readWords(path: string): string[] {
  return readFileSync(path, 'utf8').match(/\S+/g) ?? []
}
