import { readdirSync, statfsSync, statSync } from 'node:fs'
import { MAX_CELL_FILES, memoryExceeded } from './cell-limits.ts'
import type { SandboxCell } from '../driver.ts'
import { readProcFile } from '../host-process.ts'

/** A cell can exceed its limit by what its cores fill in this time; one check takes a fraction of a millisecond. */
const CHECK_INTERVAL_MS = 500

/**
 * Kills a cell that exceeds a limit which the kernel does not enforce. It limits the memory of each process, and only its
 * writable mappings: a cell may have many processes, and a process may make filled pages read-only and map new ones.
 * Every file costs memory of the kernel, whatever its size. `maxMemoryMb` is null for a cell of a single process,
 * and for a cell with a cgroup, in which the kernel counts all memory.
 */
export function monitorCell(
  cell: SandboxCell,
  maxMemoryMb: number | null,
  findFirst = () => findFirstProcess(cell.pid),
): void {
  checkRepeatedly(cell, () => {
    const first = findFirst()
    return first === undefined ? null : findExceededLimit(first, maxMemoryMb)
  })
}

/** Kills the cell with the sentence that `findProblem` returns. */
export function checkRepeatedly(cell: SandboxCell, findProblem: () => string | null): void {
  const timer = setInterval(() => {
    const problem = findProblem()
    if (problem !== null) void cell.kill(problem)
  }, CHECK_INTERVAL_MS)
  timer.unref()
  void cell.exited.then(() => clearInterval(timer))
}

function findExceededLimit(first: number, maxMemoryMb: number | null): string | null {
  if (maxMemoryMb !== null) {
    const maxKb = maxMemoryMb * 1024 - socketBufferKb(first)
    if (exceedsMemory([first, ...listDescendants(first)], maxKb)) return memoryExceeded(maxMemoryMb)
  }
  const files = countFiles(first, '/tmp') + countFiles(first, '/dev/shm')
  return files > MAX_CELL_FILES ? `the sandbox contained more than ${MAX_CELL_FILES.toLocaleString('en')} files` : null
}

/** The files in the file system of a folder of the cell, from outside. Zero while the cell still sees that of the host. */
function countFiles(pid: number, folder: string): number {
  const inside = `/proc/${pid}/root${folder}`
  try {
    if (statSync(inside).dev === statSync(folder, { throwIfNoEntry: false })?.dev) return 0
    const { files, ffree } = statfsSync(inside)
    return files - ffree
  } catch {
    return 0 // The process has ended in the meantime.
  }
}

/** The quick sum counts pages that forked processes share once per process; the exact sum is slow and rarely needed. */
function exceedsMemory(pids: number[], maxKb: number): boolean {
  return sum(pids, residentKb) > maxKb && sum(pids, proportionalKb) > maxKb
}

/**
 * Data that waits in sockets is kernel memory and counted for no process, so each socket counts as full. The network
 * namespace of the cell contains exactly the sockets of the cell.
 */
function socketBufferKb(pid: number): number {
  const sockets = sumMatches(`/proc/${pid}/net/sockstat`, /^sockets: used (\d+)/gm)
  return sockets === 0 ? 0 : (sockets * sumMatches('/proc/sys/net/core/wmem_default', /^(\d+)/gm)) / 1024
}

const sum = (pids: number[], count: (pid: number) => number) => pids.reduce((all, pid) => all + count(pid), 0)

/** In kilobytes, including page tables and excluding pages that the kernel could read again from a file. */
function residentKb(pid: number): number {
  return sumMatches(`/proc/${pid}/status`, /^(?:RssAnon|RssShmem|VmSwap|VmPTE):\s*(\d+)/gm)
}

/** Each page divided by the number of processes that share it. */
function proportionalKb(pid: number): number {
  const shares = sumMatches(`/proc/${pid}/smaps_rollup`, /^(?:Pss_Anon|Pss_Shmem|SwapPss):\s*(\d+)/gm)
  return shares === 0 ? residentKb(pid) : shares + sumMatches(`/proc/${pid}/status`, /^VmPTE:\s*(\d+)/gm)
}

function sumMatches(path: string, lines: RegExp): number {
  return [...readProcFile(path).matchAll(lines)].reduce((all, [, number]) => all + Number(number), 0)
}

/** The first process in the process namespace of the cell. One or two processes of bwrap wait for it. */
export function findFirstProcess(pid: number): number | undefined {
  for (const child of listChildProcesses(pid)) {
    const first = /^NSpid:.*\s1$/m.test(readProcFile(`/proc/${child}/status`)) ? child : findFirstProcess(child)
    if (first !== undefined) return first
  }
  return undefined
}

/** Children of every thread of the process, not only of its main thread. */
function listChildProcesses(pid: number): number[] {
  return listThreads(pid)
    .flatMap((thread) => readProcFile(`/proc/${pid}/task/${thread}/children`).match(/\d+/g) ?? [])
    .map(Number)
}

export function listDescendants(pid: number): number[] {
  return listChildProcesses(pid).flatMap((child) => [child, ...listDescendants(child)])
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}
