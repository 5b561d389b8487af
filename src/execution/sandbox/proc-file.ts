import { readFileSync } from 'node:fs'

/** The content of a file below /proc; empty if it does not exist, for example because the process has ended. */
export function readProcFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
