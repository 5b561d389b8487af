import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { readProcFile } from '../host-process.ts'

/**
 * Memory of a gVisor cell in megabytes: the heaps of its processes, and the file that holds all memory and all files of
 * the cell. The kernel counts that file for no process as long as a page is not mapped.
 */
export function runscMemoryMb(processes: number[]): number {
  const heapsKb = processes.map((pid) =>
    Number(/^RssAnon:\s*(\d+)/m.exec(readProcFile(`/proc/${pid}/status`))?.[1] ?? 0),
  )
  // Several processes hold the same file open.
  const files = new Map(processes.flatMap(listMemoryFiles))
  return Math.round(sum(heapsKb) / 1024 + sum([...files.values()]) / 2048)
}

/** CPU seconds of these processes and of their children that have ended. */
export function cpuSeconds(processes: number[]): number {
  return sum(processes.map((pid) => sum(cpuTicks(readProcFile(`/proc/${pid}/stat`))))) / TICKS_PER_SECOND
}

/** The fields after the name of the program, which may contain spaces: utime, stime, cutime and cstime. */
const cpuTicks = (stat: string): number[] =>
  stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number)

/** The same on all systems with Linux that Node supports. */
const TICKS_PER_SECOND = 100

const sum = (numbers: number[]) => numbers.reduce((all, number) => all + number, 0)

/** The inode of each file with the size in blocks of 512 bytes. */
function listMemoryFiles(pid: number): [inode: number, blocks: number][] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name): [number, number][] => {
      const path = `/proc/${pid}/fd/${name}`
      if (!readlinkSync(path).startsWith('/memfd:runsc-memory')) return []
      const { ino, blocks } = statSync(path)
      return [[ino, blocks]]
    })
  } catch {
    return [] // The process has ended in the meantime.
  }
}
