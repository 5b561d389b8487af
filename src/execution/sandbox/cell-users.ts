import { readProcFile } from './host-process.ts'

/** The operating system user that a cell runs as. */
export interface CellUser {
  uid: number
  gid: number
}

/** Above the ranges of accounts, subordinate ids and containers, so that no file on the machine belongs to these users. */
const FIRST_UID = 2_000_000_000
const UID_COUNT = 10_000
const NOBODY_UID = 65534

/**
 * Allocates a different user for each cell, so that the per-user limits of the kernel apply to each cell alone. Returns
 * null if the service is not root: it then cannot change users, and its cells run as its own user. A service that is
 * root must never run a cell as root: even inside namespaces the cell would own the files of root.
 */
export function createCellUserAllocator(): () => CellUser | null {
  if (process.getuid?.() !== 0) return () => null
  if (!isUidMapped(FIRST_UID + UID_COUNT)) return () => ({ uid: NOBODY_UID, gid: NOBODY_UID })
  let next = process.pid % UID_COUNT
  return () => {
    next = (next + 1) % UID_COUNT
    return { uid: FIRST_UID + next, gid: FIRST_UID + next }
  }
}

export function isCellUser(uid: number): boolean {
  return uid === NOBODY_UID || (uid >= FIRST_UID && uid < FIRST_UID + UID_COUNT)
}

/** In a container, often only a few thousand user ids are mapped. */
function isUidMapped(uid: number): boolean {
  const lines = readProcFile('/proc/self/uid_map').trim().split('\n')
  return lines.some((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
    return uid >= first && uid < first + count
  })
}
