import { readFileSync } from 'node:fs'

/** What a file below /proc says; nothing where there is none, as of a process that ended in the meantime. */
export function readProcFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
