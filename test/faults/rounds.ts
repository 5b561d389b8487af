/** How often each fault is repeated: once by `npm test`, ten times by `npm run test:faults`. */
export const FAULT_ROUNDS = Math.max(1, Number(process.env['FAULT_ROUNDS'] ?? 1))

/** Numbers 1 to n, for `perRound` attempts in every round. */
export const attemptNumbers = (perRound: number): number[] =>
  Array.from({ length: perRound * FAULT_ROUNDS }, (_, i) => i + 1)

/** Long, because tests start whole processes and wait in real time until leases expire. */
export const FAULT_TIMEOUT_MS = 400_000 * FAULT_ROUNDS
