/** Waits that double from the first one and never exceed the limit. */
export const doublingWaits = (count: number, firstMs: number, maxMs = Infinity): number[] =>
  Array.from({ length: count }, (_, n) => Math.min(firstMs * 2 ** n, maxMs))

/** The wait after a number of failed attempts; null if the last attempt was the final one. */
export const waitAfter = (waits: readonly number[], failures: number): number | null => waits[failures - 1] ?? null

/** As `waitAfter`, for work that is never given up: the last wait is repeated. */
export const repeatedWaitAfter = (waits: readonly number[], failures: number): number =>
  waits[Math.min(failures, waits.length) - 1] ?? 0

/** Adds up to a quarter, so that callers that failed together do not retry together. */
export const addJitter = (waitMs: number, [randomByte = 0]: Uint8Array): number => waitMs * (1 + randomByte / 1024)
