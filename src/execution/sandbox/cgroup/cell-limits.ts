import type { GroupLimits } from './cell-groups.ts'
import type { CellLimits, CellSpec } from '../driver.ts'

export const DEFAULT_CELL_LIMITS: CellLimits = {
  memory_mb: 512,
  processes: 64,
  open_files: 256,
  file_mb: 64,
  tmp_mb: 64,
  cpu_s: 600,
  output_line_bytes: 1024 * 1024,
  stderr_bytes: 64 * 1024,
}

/**
 * The data limit in megabytes for a cell that runs this version of Node. From version 24 on V8 reserves memory for code,
 * which the kernel counts as data whether it is used or not: without that allowance Node does not start.
 */
export function dataLimitMb(
  { memory_mb }: Pick<CellLimits, 'memory_mb'>,
  { version, arch }: Pick<NodeJS.Process, 'version' | 'arch'> = process,
): number {
  const codeRangeMb = arch === 'arm64' ? ARM64_CODE_RANGE_MB : CODE_RANGE_MB
  return Number.parseInt(version.slice(1), 10) >= 24 ? memory_mb + codeRangeMb : memory_mb
}

/** Memory that all processes of a workshop may use together. A sealed cell is a single process. */
export const workshopMemoryMb = ({ memory_mb }: Pick<CellLimits, 'memory_mb'>): number =>
  Math.max(memory_mb, Math.min(2 * memory_mb, DOUBLED_WORKSHOP_MEMORY_MB))

/** Memory that all processes of a cell may use together, in megabytes. */
export const cellMemoryMb = ({ profile, limits }: Pick<CellSpec, 'profile' | 'limits'>): number =>
  profile === 'workshop' ? workshopMemoryMb(limits) : limits.memory_mb

/** What the programs of a driver need beside the cell. */
export interface DriverNeeds {
  memoryMb: number
  processes: number
}

/**
 * The limits of a cell together with the programs of its driver. The kernel counts files in /tmp as memory: in a workshop
 * they are part of its memory, and a sealed cell may use the whole of its heap and of its /tmp.
 */
export function groupLimits({ profile, limits }: Pick<CellSpec, 'profile' | 'limits'>, own: DriverNeeds): GroupLimits {
  const memoryMb = cellMemoryMb({ profile, limits }) + (profile === 'sealed' ? limits.tmp_mb : 0)
  return { memoryMb: memoryMb + own.memoryMb, processes: limits.processes + own.processes }
}

export const memoryExceeded = (megabytes: number): string =>
  `the processes of the sandbox used more than ${megabytes} MB of memory`

/** Counts files, folders and links. The kernel needs about 1 kB of memory for each. */
export const MAX_CELL_FILES = 100_000

const CODE_RANGE_MB = 512
const ARM64_CODE_RANGE_MB = 256
/** Up to this, several processes may use more than one alone. */
const DOUBLED_WORKSHOP_MEMORY_MB = 1024
