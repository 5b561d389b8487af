import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import type { CellTermination } from './cell-process.ts'

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name] as const))

/** Like a shell, the programs that run cells exit with 128 + n for a program that signal n ended. */
export const parseShellExit: CellTermination['parseExit'] = (code, signal) => {
  const programSignal = code === null ? undefined : SIGNAL_NAMES.get(code - 128)
  return programSignal === undefined ? { code, signal } : { code: null, signal: programSignal }
}

export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended in the meantime.
  }
}

/** The content of a file below /proc; empty if it does not exist, for example because the process has ended. */
export function readProcFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
