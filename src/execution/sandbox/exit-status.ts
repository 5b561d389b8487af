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
