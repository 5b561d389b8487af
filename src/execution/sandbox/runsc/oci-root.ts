import { mkdirSync, mkdtempSync, chmodSync, chownSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CellResources } from '../cell-resources.ts'
import type { CellUser } from '../cell-users.ts'
import type { CellMount } from '../cell-view.ts'
import { PROCESS_NAME } from '../files-folder.ts'
import { cellTemporaryFolder } from '../staging.ts'

/** A folder for the root and the state of one cell. Only the user of the cell may enter it. */
export function keepCellFolder(user: CellUser | null, resources: CellResources): string {
  const folder = mkdtempSync(join(cellTemporaryFolder(), `svc-oci-${PROCESS_NAME}`))
  resources.keep(() => rmSync(folder, { recursive: true, force: true }))
  if (user) chownSync(folder, user.uid, user.gid)
  return folder
}

/** A root that contains nothing but links and the places at which gVisor mounts the files of the cell. */
export function createRootFolder(root: string, mounts: CellMount[]): void {
  mkdirSync(root, { recursive: true })
  for (const folder of ['dev', 'etc', 'proc', 'run', 'sys', 'tmp']) mkdirSync(join(root, folder), { recursive: true })
  for (const mount of mounts) {
    const path = join(root, mount.target)
    if (isBelowAnother(mount.target, mounts)) continue
    mkdirSync(dirname(path), { recursive: true })
    if (mount.kind === 'link') symlinkSync(mount.source, path)
    else if (mount.kind === 'bind' && !statSync(mount.source).isDirectory()) writeFileSync(path, '')
    else mkdirSync(path, { recursive: true })
  }
  // The mask of the service may forbid other users what the cell needs.
  for (const folder of ['.', 'dev', 'etc', 'run', 'tmp']) chmodSync(join(root, folder), 0o755)
}

/** Such a place exists in the folder of the host. */
function isBelowAnother(target: string, mounts: CellMount[]): boolean {
  return mounts.some((mount) => mount.kind === 'bind' && target.startsWith(`${mount.target}/`))
}
