import { type CellResources, startWithResources } from './cell-resources.ts'
import { type CellUser, createCellUserAllocator } from './cell-users.ts'
import { CELL_FILES_DIR, CELL_PATHS } from './cell-view.ts'
import { type CellSpec, fullIsolation, type SandboxCell, type SandboxDriver, type SandboxKind } from './driver.ts'
import { type FilesFolder, keepFilesFolder, removeOrphanedFilesFolders } from './files-folder.ts'
import type { GroupSupport } from './cgroup/grouped-start.ts'
import { cellUserOfSocket, createSocketFolder, giveSocketToCellUser } from './socket-folder.ts'
import type { Staging } from './staging.ts'

/** A cell that is about to be started, and what it has on the host. */
export interface NewCell {
  spec: CellSpec
  /** Null if the service is not root. */
  user: CellUser | null
  files: FilesFolder | null
  resources: CellResources
}

/** What the drivers have in common that show each cell a root folder of its own. */
export function createRootedDriver(
  kind: SandboxKind,
  { limiting }: GroupSupport,
  staging: Staging,
  startCell: (cell: NewCell) => SandboxCell,
): SandboxDriver {
  const users = createCellUserAllocator()
  removeOrphanedFilesFolders()
  return {
    kind,
    isolation: fullIsolation(),
    canLoopback: true,
    limiting,
    ...CELL_PATHS,
    stageFolder: staging.stageFolder,
    createSocketFolder: (parent) => createSocketFolder(parent, users()),
    prepareSocket: giveSocketToCellUser,
    start: (spec) =>
      startWithResources((resources) => {
        const user = cellUserOfSocket(spec.socket, users)
        const host = keepFilesFolder(spec, user, resources)
        return startCell({ spec, user, files: host === null ? null : { host, inside: CELL_FILES_DIR }, resources })
      }),
  }
}
