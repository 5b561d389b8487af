import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The path of a program, and the paths under which its loader looks for libraries. */
export interface HostProgram {
  path: string
  libraries: string[]
}

export function inspectProgram(path: string): HostProgram {
  return { path, libraries: listLibraries(path) }
}

/** The Node binary of the service by its real path, so that it finds libraries in the folders next to it. */
export function inspectOwnNode(): HostProgram {
  return inspectProgram(realpathSync(process.execPath))
}

export function findProgram(name: string): string | null {
  const folders = ['/usr/bin', '/bin', '/usr/local/bin', ...(process.env['PATH'] ?? '').split(delimiter)]
  const found = folders.filter((folder) => folder.startsWith('/')).map((folder) => join(folder, name))
  return found.find((path) => existsSync(path)) ?? null
}

/**
 * File descriptors that this process inherited and would pass on to cells. Node opens its own descriptors with
 * close-on-exec, but those of the parent process (a supervisor, a test runner) may lack it.
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
        return false // The descriptor that listed this folder; it is closed by now.
      }
    })
}

/** Calls `use` with stdio options that replace the inherited descriptors with /dev/null and keep those `given`. */
export function withDescriptorsCovered<T>(
  inherited: number[],
  given: (number | 'pipe')[],
  use: (stdio: SpawnStdio) => T,
): T {
  const empty = openSync('/dev/null', 'r')
  try {
    const length = Math.max(given.length, ...inherited.map((descriptor) => descriptor + 1))
    const stdio = Array.from({ length }, (_, index): number | 'pipe' | 'ignore' => {
      return given[index] ?? (inherited.includes(index) ? empty : 'ignore')
    })
    return use(stdio)
  } finally {
    closeSync(empty)
  }
}

export type SpawnStdio = (number | 'pipe' | 'ignore')[]

/** Empty for a statically linked program, for which `ldd` fails. */
function listLibraries(program: string): string[] {
  try {
    const listing = execFileSync('ldd', [program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return [...new Set(listing.split('\n').flatMap((line) => /(?:=>\s*)?(\/\S+)\s+\(0x/.exec(line)?.[1] ?? []))]
  } catch {
    return []
  }
}
