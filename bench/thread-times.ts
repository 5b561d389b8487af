import { readFileSync } from 'node:fs'

/** How long the main thread of a process ran, and how long it was ready to run while others had the processors. */
export function threadTimes(pid: number): { ranMs: number; waitedMs: number } {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number)
    return { ranMs: ran / 1e6, waitedMs: waited / 1e6 }
  } catch {
    return { ranMs: 0, waitedMs: 0 }
  }
}
