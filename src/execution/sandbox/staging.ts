import {
  chmodSync,
  cpSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  realpathSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { cleanUpAtExit } from './cell-resources.ts'

export interface Staging {
  /** A path with the same content that the user of a cell can read: the real path, or a copy of it. */
  readablePath: (path: string) => string
  /** The same for a folder whose files may change: its copy is made now and is used by one cell. */
  stageFolder: (path: string) => StagedFolder
}

export interface StagedFolder {
  path: string
  /** Removes the copy, if there is one. */
  remove: () => void
}

/**
 * A service that runs as root may be installed where other users cannot read, such as /root, but its cells run as other
 * users. Files that the cells must read are then copied once to a readable folder. A service that is not root runs its
 * cells as its own user and copies nothing.
 */
export function createStaging(): Staging {
  const known = new Map<string, string>()
  let folder: string | null = null
  let copies = 0

  const newCopyPath = (path: string) => {
    if (folder === null) {
      const made = mkdtempSync(join(cellTemporaryFolder(), 'svc-staging-'))
      chmodSync(made, 0o711)
      cleanUpAtExit(() => rmSync(made, { recursive: true, force: true }))
      folder = made
    }
    return join(folder, `${copies++}-${basename(path)}`)
  }

  return {
    readablePath(path) {
      const found = known.get(path)
      if (found !== undefined) return found
      const real = realpathSync(path)
      const result = canOthersRead(real) ? real : copyReadable(real, newCopyPath(real))
      known.set(path, result)
      return result
    },
    stageFolder(path) {
      const real = realpathSync(path)
      if (canOthersRead(real)) return { path: real, remove: () => {} }
      const copy = newCopyPath(real)
      // Links stay links: a copy made by root must not contain the file of the host to which a link leads.
      cpSync(real, copy, { recursive: true, verbatimSymlinks: true })
      makeReadableByOthers(copy)
      const remove = () => {
        known.delete(copy)
        rmSync(copy, { recursive: true, force: true })
      }
      return { path: copy, remove }
    },
  }
}

/** True for every path if the service is not root, because its cells then run as the same user. */
function canOthersRead(path: string): boolean {
  if (process.getuid?.() !== 0) return true
  const { mode } = statSync(path)
  const needed = statSync(path).isDirectory() ? 0o005 : 0o004
  return (mode & needed) === needed && canOthersTraverse(dirname(path))
}

/** A temporary folder that cells can reach; they cannot reach a TMPDIR below a private home folder. */
export function cellTemporaryFolder(): string {
  const usual = realpathSync(tmpdir())
  return process.getuid?.() !== 0 || canOthersTraverse(usual) ? usual : publicTemporaryFolder()
}

/** The real path of /tmp, which is a link on macOS, because the permission model of Node compares real paths. */
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

/** A hard link avoids copying the 100 MB of Node if both paths are on one disk. */
function tryHardLink(source: string, target: string): boolean {
  try {
    linkSync(source, target)
    return true
  } catch {
    return false
  }
}

/** Changes no target of a link, which may be any file of the host. */
function makeReadableByOthers(path: string): void {
  const kind = lstatSync(path)
  if (kind.isSymbolicLink()) return
  const executable = kind.isDirectory() || (kind.mode & 0o100) !== 0
  chmodSync(path, executable ? 0o755 : 0o644)
  if (kind.isDirectory()) for (const name of readdirSync(path)) makeReadableByOthers(join(path, name))
}
