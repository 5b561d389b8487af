import type { Hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

/** Takes about 3 ms. */
const BYTES_PER_TURN = 1024 * 1024

/** Adds bytes to a hash. Other requests run after each megabyte. */
export async function hashInTurns(hash: Hash, bytes: Uint8Array): Promise<Hash> {
  for (let at = 0; at < bytes.length; at += BYTES_PER_TURN) {
    if (at > 0) await setImmediate()
    hash.update(bytes.subarray(at, at + BYTES_PER_TURN))
  }
  return hash
}
