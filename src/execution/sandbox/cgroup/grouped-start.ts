import { type ChildProcess, spawn } from 'node:child_process'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { type CellGroup, type CellGroups, openCellGroups } from './cell-groups.ts'
import { cellMemoryMb, type DriverNeeds, groupLimits, memoryExceeded } from './cell-limits.ts'
import type { CellResources } from '../cell-resources.ts'
import { type CellProcess, type CellTermination, hasStdioPipes } from '../cell-process.ts'
import type { CellUser } from '../cell-users.ts'
import type { CellLimiting, CellSpec } from '../driver.ts'
import { withDescriptorsCovered } from '../host-programs.ts'

/** The cgroups of a driver, or the reason why it has none. */
export interface GroupSupport {
  groups: CellGroups | null
  limiting: CellLimiting
}

export function findGroupSupport(): GroupSupport {
  try {
    return { groups: openCellGroups(), limiting: { kind: 'cgroup', reason: null } }
  } catch (cause) {
    return { groups: null, limiting: { kind: 'process', reason: errorMessage(cause) } }
  }
}

/** The cgroup of one cell. Without one, all functions do nothing. */
export interface GroupedStart {
  group: CellGroup | null
  /** For the stdio of the first program, which waits until this pipe ends. Empty without a cgroup. */
  gate: 'pipe'[]
  /** Moves the new process into the cgroup and then lets it continue: none of its children can be outside. */
  admit(child: ChildProcess, gateDescriptor: number): Promise<void>
  termination: Pick<CellTermination, 'cancelStart' | 'explainExit'>
}

export function prepareGroup(
  groups: CellGroups | null,
  spec: CellSpec,
  own: DriverNeeds,
  resources: CellResources,
): GroupedStart {
  const group = groups?.create(groupLimits(spec, own)) ?? null
  if (group === null) return { group, gate: [], admit: async () => {}, termination: {} }
  resources.keep(() => void group.remove())
  const entry: GroupEntry = { isPending: false, isCancelled: false }
  let problem: string | null = null
  return {
    group,
    gate: ['pipe'],
    async admit(child, gateDescriptor) {
      problem = await admitToGroup(child, gateDescriptor, group, entry)
    },
    termination: {
      cancelStart() {
        entry.isCancelled = true
        return entry.isPending
      },
      explainExit: () => problem ?? (group.exceededMemory() ? memoryExceeded(cellMemoryMb(spec)) : null),
    },
  }
}

/** Starts a program from a shell, which waits for its cgroup and then becomes the program. */
export function spawnInGroup(
  command: string[],
  options: { env: Record<string, string> } & Partial<CellUser>,
  grouped: GroupedStart,
  inherited: number[],
): CellProcess {
  const wait = grouped.gate.length > 0 ? `${waitForGate(FIRST_DESCRIPTOR)}; ` : ''
  return withDescriptorsCovered(inherited, ['pipe', 'pipe', 'pipe', ...grouped.gate], (stdio) => {
    const args = ['-c', `${wait}exec "$@"`, 'sh', ...command]
    const child = spawn('/bin/sh', args, { ...options, cwd: '/', stdio, detached: true })
    if (!hasStdioPipes(child)) throw new Error('a cell was started without its pipes')
    void grouped.admit(child, FIRST_DESCRIPTOR)
    return child
  })
}

/** After the standard streams. */
export const FIRST_DESCRIPTOR = 3

/** The part of a shell program that waits for the pipe `descriptor` to end. */
export const waitForGate = (descriptor: number): string => `read -r _ <&${descriptor}; exec ${descriptor}<&-`

interface GroupEntry {
  isPending: boolean
  isCancelled: boolean
}

/**
 * Null, or why the process could not enter; it is killed then. A cancelled process is killed only here: another process
 * could get its pid before the kernel moves that pid into the cgroup.
 */
async function admitToGroup(
  child: ChildProcess,
  gateDescriptor: number,
  group: CellGroup,
  entry: GroupEntry,
): Promise<string | null> {
  if (child.pid === undefined) return null // It could not be started; its exit says why.
  entry.isPending = true
  const problem = await group.add(child.pid).then(() => null, errorMessage)
  entry.isPending = false
  if (problem !== null || entry.isCancelled) child.kill('SIGKILL')
  child.stdio[gateDescriptor]?.destroy()
  return problem === null || entry.isCancelled ? null : `the sandbox could not enter its cgroup: ${problem}`
}
