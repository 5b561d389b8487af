/** The store cannot be reached or written right now. Nothing is wrong with what was asked: later it may go well. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown, message = 'the store cannot be reached right now: try again') {
    super(message, { cause })
  }
}

/** It can be reached, and gave up on what was asked, because others were in the way: nothing of it was done. */
export class StoreBusy extends StoreUnavailable {
  constructor(cause: unknown) {
    super(cause, 'the store is busy right now: try again')
  }
}

/** The error as it is, or as `StoreAway` when that is what it says. */
export function classifyStoreError(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error
  if (isBusyError(error)) return new StoreBusy(error)
  return isUnavailableError(error) ? new StoreUnavailable(error) : error
}

/** Whether nobody is there to ask, so that nothing else would go better. */
export const isUnreachable = (error: unknown): error is StoreUnavailable =>
  error instanceof StoreUnavailable && !(error instanceof StoreBusy)

/** Tries again for as long as the store is away, or until all is over. By the real clock: it is the world that heals. */
export async function retryUntilAvailable<T>(
  attempt: () => Promise<T>,
  over?: { readonly aborted: boolean },
): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || over?.aborted) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS))
  }
}

const RETRY_DELAY_MS = 250

/** Null when there was no answer in time. A process that was itself held up looks once more before it says so. */
export async function resolveWithin<T>(ms: number, asking: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => setImmediate(() => setImmediate(resolve, null)), ms)
  })
  asking.catch(() => {})
  return Promise.race([asking, late]).finally(() => clearTimeout(timer))
}

/** A statement that took too long, or waited too long for a lock: as while a newer replica builds an index. */
const isBusyError = (error: unknown) => error instanceof Error && 'code' in error && BUSY_CODES.has(error.code)

const BUSY_CODES = new Set<unknown>(['57014', '55P03'])

function isUnavailableError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, errcode, syscall } = error as Error & { code?: unknown; errcode?: unknown; syscall?: unknown }
  if (typeof errcode === 'number') return SQLITE_UNAVAILABLE_CODES.has(errcode & 0xff)
  if (typeof code !== 'string') return DRIVER_MESSAGES.some((words) => error.message.includes(words))
  // A server on a Unix socket that is not there is a missing file.
  return (
    code.startsWith('08') ||
    POSTGRES_UNAVAILABLE_CODES.has(code) ||
    NETWORK_ERROR_CODES.has(code) ||
    (code === 'ENOENT' && syscall === 'connect')
  )
}

/** Busy, read-only, i/o error, full, cannot be opened. */
const SQLITE_UNAVAILABLE_CODES = new Set([5, 8, 10, 13, 14])

const POSTGRES_UNAVAILABLE_CODES = new Set([
  // The server stops, has crashed, or starts.
  '57P01',
  '57P02',
  '57P03',
  // Too many connections; the disk is full; input or output fails.
  '53300',
  '53100',
  '58030',
  // We were silent in a transaction for too long; a server that only reads, as during a failover.
  '25P03',
  '25006',
])

const NETWORK_ERROR_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** The driver's own errors have no code. */
const DRIVER_MESSAGES = [
  'Connection terminated',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
]
