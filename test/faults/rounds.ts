/** How hard the faults are tried: once by `npm test`, more often by `npm run test:faults`. */
export const FAULT_ROUNDS = Math.max(1, Number(process.env['FAULT_ROUNDS'] ?? 1))

/** The numbers of the tries, so many a round. */
export const attemptNumbers = (each: number): number[] => Array.from({ length: each * FAULT_ROUNDS }, (_, i) => i + 1)

/** Whole processes are started, and leases of 10 s run out by the real clock. */
export const FAULT_TIMEOUT_MS = 120_000 * FAULT_ROUNDS
