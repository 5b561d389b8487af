import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { CellResources } from './cell-resources.ts'
import type { CellUser } from './cell-users.ts'
import type { CellSpec } from './driver.ts'
import { cellTemporaryFolder } from './staging.ts'

/** A folder into which the service writes files of runs, and which the cell can only read. */
export interface FilesFolder {
  /** The path on the host. */
  host: string
  /** The path that the cell sees. */
  inside: string
}

const PREFIX = 'svc-files-'
/** Names the process, also if its id is used again after a restart, as in a container. */
export const PROCESS_NAME = `${process.pid}-${Math.round(performance.timeOrigin)}-`

/** Creates the folder on the host. Only the service may write to it, and only the user of the cell may read it. */
export function createFilesFolder(user: CellUser | null): string {
  const folder = mkdtempSync(join(cellTemporaryFolder(), PREFIX + PROCESS_NAME))
  if (user) {
    chownSync(folder, 0, user.gid)
    chmodSync(folder, 0o750)
  }
  return folder
}

/** Null if the cell needs none. */
export function keepFilesFolder(
  { hasFilesFolder }: CellSpec,
  user: CellUser | null,
  resources: CellResources,
): string | null {
  if (!hasFilesFolder) return null
  const folder = createFilesFolder(user)
  resources.keep(() => removeFilesFolder(folder))
  return folder
}

export const removeFilesFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true })

/** Shows the folder as `in` below the home folder of a cell that sees the files of the host. */
export const linkFilesFolder = (folder: string, home: string): void => symlinkSync(folder, join(home, 'in'))

/**
 * Removes what a process left behind that was killed: the files of clients must not stay on the disk. The same for the roots of cells. A folder that cannot be
 * removed must not stop the start: it may belong to another user, or another service may be removing it now.
 */
export function removeOrphanedFilesFolders(): void {
  const parent = cellTemporaryFolder()
  for (const name of readdirSync(parent)) {
    const [, owner, pid] = /^svc-(?:files|oci)-((\d+)-\d+-)/.exec(name) ?? []
    if (pid === undefined || owner === PROCESS_NAME) continue
    if (Number(pid) === process.pid || !isRunning(Number(pid))) tryToRemove(join(parent, name))
  }
}

function tryToRemove(folder: string): void {
  try {
    removeFilesFolder(folder)
  } catch {
    // The next start tries again.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user exists, but may not be signalled.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
