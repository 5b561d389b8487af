import { chmodSync, cpSync, linkSync, mkdtempSync, realpathSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

export interface Staging {
  /** A path with the same content that the cell's user can read: the real path itself, or a copy where it cannot. */
  readablePath: (path: string) => string
}

/**
 * A service that is root may live where nobody else can look, such as /root, and its cells run as other users. What
 * they must read is then copied, once, to where they can. An ordinary user's cells are the same user: nothing to do.
 */
export function createStaging(): Staging {
  const known = new Map<string, string>()
  let folder: string | null = null

  const newPlace = (path: string) => {
    if (folder === null) {
      const made = mkdtempSync(join(cellTemporaryFolder(), 'svc-staging-'))
      chmodSync(made, 0o711)
      process.once('exit', () => rmSync(made, { recursive: true, force: true }))
      folder = made
    }
    return join(folder, `${known.size}-${basename(path)}`)
  }

  return {
    readablePath(path) {
      const found = known.get(path)
      if (found !== undefined) return found
      const real = realpathSync(path)
      const result = canOthersRead(real) ? real : copyReadable(real, newPlace(real))
      known.set(path, result)
      return result
    },
  }
}

/** True for every path when the service is not root, because its cells are the same user. */
function canOthersRead(path: string): boolean {
  if (process.getuid?.() !== 0) return true
  const { mode } = statSync(path)
  const needed = statSync(path).isDirectory() ? 0o005 : 0o004
  return (mode & needed) === needed && canOthersTraverse(dirname(path))
}

/** Where cells may look at least through; a TMPDIR below a private home is no such place. */
export function cellTemporaryFolder(): string {
  const usual = realpathSync(tmpdir())
  return process.getuid?.() !== 0 || canOthersTraverse(usual) ? usual : publicTemporaryFolder()
}

/** By its real path, because Node's permission model judges by that: on macOS /tmp is a link. */
export function publicTemporaryFolder(): string {
  return realpathSync('/tmp')
}

export function canOthersTraverse(folder: string): boolean {
  if (process.getuid?.() !== 0) return true
  if ((statSync(folder).mode & 0o001) === 0) return false
  return folder === dirname(folder) || canOthersTraverse(dirname(folder))
}

function copyReadable(source: string, target: string): string {
  const kind = statSync(source)
  if (kind.isFile() && (kind.mode & 0o005) === 0o005 && tryHardLink(source, target)) return target
  cpSync(source, target, { recursive: true, dereference: true })
  makeReadableByOthers(target)
  return target
}

/** Node is 100 MB: where both paths are on one disk, a second name for it costs nothing. */
function tryHardLink(source: string, target: string): boolean {
  try {
    linkSync(source, target)
    return true
  } catch {
    return false
  }
}

function makeReadableByOthers(path: string): void {
  const kind = statSync(path)
  const executable = kind.isDirectory() || (kind.mode & 0o100) !== 0
  chmodSync(path, executable ? 0o755 : 0o644)
  if (kind.isDirectory()) for (const name of readdirSync(path)) makeReadableByOthers(join(path, name))
}
