import { readdirSync } from 'node:fs'
import type { SandboxCell } from './driver.ts'
import { readProcFile } from './proc-file.ts'

/** What a cell may get beyond its limit is what the cores can fill in this time; a look costs a fraction of a millisecond. */
const CHECK_INTERVAL_MS = 500

/**
 * Ends a cell whose processes hold more memory together than it may. The kernel limits each by what it maps for writing,
 * so there may be many of them, and one that has written its pages and then forbids writing may map as much again.
 */
export function monitorCellMemory(cell: SandboxCell, mostMb: number): void {
  const most = mostMb * 1024
  const timer = setInterval(() => {
    if (exceedsLimit(cell.pid, most))
      void cell.kill(`the processes of the sandbox held more than ${mostMb} MB of memory`)
  }, CHECK_INTERVAL_MS)
  timer.unref()
  void cell.exited.then(() => clearInterval(timer))
}

/** Pages that forked processes share count for each in the quick sum; the exact one is slow and seldom needed. */
function exceedsLimit(pid: number, most: number): boolean {
  const inside = listDescendants(pid)
  const left = most - socketBufferKb(inside[0])
  return sum(inside, residentKb) > left && sum(inside, proportionalKb) > left
}

/** What waits in them is the kernel's, in no process's account; so each counts as full. All are in the network of the cell. */
function socketBufferKb(pid: number | undefined): number {
  const sockets = sumMatches(`/proc/${pid}/net/sockstat`, /^sockets: used (\d+)/gm)
  return sockets === 0 ? 0 : (sockets * sumMatches('/proc/sys/net/core/wmem_default', /^(\d+)/gm)) / 1024
}

const sum = (pids: number[], count: (pid: number) => number) => pids.reduce((all, pid) => all + count(pid), 0)

/** In kilobytes, with the tables of pages, and without what the kernel could read again from a file. */
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

/** Children of every thread: whoever forks in its second thread is no less a parent. */
export function listChildProcesses(pid: number): number[] {
  return listThreads(pid)
    .flatMap((thread) => readProcFile(`/proc/${pid}/task/${thread}/children`).match(/\d+/g) ?? [])
    .map(Number)
}

function listDescendants(pid: number): number[] {
  return listChildProcesses(pid).flatMap((child) => [child, ...listDescendants(child)])
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}
