import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where a program lies and which libraries its loader will ask for, by the paths it will ask with. */
export interface HostProgram {
  path: string
  libraries: string[]
}

export function inspectProgram(path: string): HostProgram {
  return { path, libraries: listLibraries(path) }
}

/** The service's own Node, at its real place: a Node that looks for libraries beside itself still finds them. */
export function inspectOwnNode(): HostProgram {
  return inspectProgram(realpathSync(process.execPath))
}

export function findProgram(name: string): string | null {
  const folders = ['/usr/bin', '/bin', '/usr/local/bin', ...(process.env['PATH'] ?? '').split(delimiter)]
  const found = folders.filter((folder) => folder.startsWith('/')).map((folder) => join(folder, name))
  return found.find((path) => existsSync(path)) ?? null
}

/**
 * Descriptors that this process inherited and would pass on: Node opens its own so that they close on exec, but a
 * parent's (a supervisor's socket, a test runner's channel) may not.
 */
export function listInheritedDescriptors(): number[] {
  const CLOSE_ON_EXEC = 0o2000000
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((descriptor) => {
      if (descriptor <= 2) return false
      try {
        const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]
        return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
      } catch {
        return false // It was the one that listed this folder.
      }
    })
}

/** For each descriptor named, an empty file in its place; the others stay as `given`. Runs `use`, then closes them. */
export function withDescriptorsCovered<T>(
  leaks: number[],
  given: (number | 'pipe')[],
  use: (stdio: SpawnStdio) => T,
): T {
  const empty = openSync('/dev/null', 'r')
  try {
    const length = Math.max(given.length, ...leaks.map((descriptor) => descriptor + 1))
    const stdio = Array.from({ length }, (_, index): number | 'pipe' | 'ignore' => {
      return given[index] ?? (leaks.includes(index) ? empty : 'ignore')
    })
    return use(stdio)
  } finally {
    closeSync(empty)
  }
}

export type SpawnStdio = (number | 'pipe' | 'ignore')[]

/** A static program has none, and `ldd` says so with an error. */
function listLibraries(program: string): string[] {
  try {
    const listing = execFileSync('ldd', [program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return [...new Set(listing.split('\n').flatMap((line) => /(?:=>\s*)?(\/\S+)\s+\(0x/.exec(line)?.[1] ?? []))]
  } catch {
    return []
  }
}
