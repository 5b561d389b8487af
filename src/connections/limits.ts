/** Of one call to the outside, in either direction. */
export const CALL_TIMEOUT_MS = 20_000
export const MOST_BYTES = 256 * 1024
