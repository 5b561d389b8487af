import { chmodSync, chownSync, existsSync, mkdtempSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publicTemporaryFolder, canOthersTraverse, cellTemporaryFolder } from './staging.ts'
import { type CellUser, isCellUser } from './cell-users.ts'

/** The path of a socket may have 104 bytes on macOS and 108 on Linux, including the folder's random part and the file. */
const MAX_PARENT_PATH_BYTES = 75

/** The owner of the new folder, and of the socket in it, is the user that the cell will run as. */
export function createSocketFolder(parent: string, user: CellUser | null): string {
  const folder = mkdtempSync(join(socketParentFolder(parent), 'svc-'))
  if (user) chownSync(folder, user.uid, user.gid)
  return folder
}

/** The mode of the socket file decides which users may connect, also where it is mounted into a cell. */
export function giveSocketToCellUser(path: string): void {
  chmodSync(path, 0o600)
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(path))
  if (!isCellUser(uid)) throw new Error(`the socket ${path} is not in a folder that was created for a cell`)
  chownSync(path, uid, gid)
}

/** The user of a cell: the owner of its socket, or `other` if the cell has no socket. */
export function cellUserOfSocket(socket: string | null, other: () => CellUser | null): CellUser | null {
  if (socket === null || process.getuid?.() !== 0) return other()
  const { uid, gid } = statSync(socket)
  if (!isCellUser(uid)) throw new Error(`the socket ${socket} was not prepared for a cell`)
  return { uid, gid }
}

function socketParentFolder(parent: string): string {
  const usual = [...(existsSync(parent) ? [realpathSync(parent)] : []), cellTemporaryFolder()]
  return usual.find(isUsableParent) ?? publicTemporaryFolder()
}

function isUsableParent(folder: string): boolean {
  return Buffer.byteLength(folder) <= MAX_PARENT_PATH_BYTES && canOthersTraverse(folder)
}
