import { procText } from './proc.ts'

/** Who a cell runs as. */
export interface CellUser {
  uid: number
  gid: number
}

/** Far above accounts, subordinate ranges and container ranges, so that no file on the machine belongs to it. */
const FIRST_UID = 2_000_000_000
const UIDS = 10_000
const NOBODY = 65534

/**
 * Users for cells, a different one for each, so that per-user limits of the kernel do not join them. null: the service
 * is not root, cannot become another user, and its cells run as the service's own.
 * As root the service must never lend its own user: inside its namespaces a cell would still own what root owns.
 */
export function cellUsers(): () => CellUser | null {
  if (process.getuid?.() !== 0) return () => null
  if (!isMapped(FIRST_UID + UIDS)) return () => ({ uid: NOBODY, gid: NOBODY })
  let next = process.pid % UIDS
  return () => {
    next = (next + 1) % UIDS
    return { uid: FIRST_UID + next, gid: FIRST_UID + next }
  }
}

export function isCellUser(uid: number): boolean {
  return uid === NOBODY || (uid >= FIRST_UID && uid < FIRST_UID + UIDS)
}

/** Root of a container often holds only a few thousand users. */
function isMapped(uid: number): boolean {
  const lines = procText('/proc/self/uid_map').trim().split('\n')
  return lines.some((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
    return uid >= first && uid < first + count
  })
}
