import { readProcFile } from './proc-file.ts'

/** Who a cell runs as. */
export interface CellUser {
  uid: number
  gid: number
}

/** Far above accounts, subordinate ranges and container ranges, so that no file on the machine belongs to it. */
const FIRST_UID = 2_000_000_000
const UID_COUNT = 10_000
const NOBODY_UID = 65534

/**
 * Users for cells, a different one for each, so that per-user limits of the kernel do not join them. null: the service
 * is not root, cannot become another user, and its cells run as the service's own.
 * As root the service must never lend its own user: inside its namespaces a cell would still own what root owns.
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

/** Root of a container often holds only a few thousand users. */
function isUidMapped(uid: number): boolean {
  const lines = readProcFile('/proc/self/uid_map').trim().split('\n')
  return lines.some((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
    return uid >= first && uid < first + count
  })
}
