/** Of one call to the outside, in either direction. */
export const CALL_TIMEOUT_MS = 20_000
export const MAX_CALL_BYTES = 256 * 1024
