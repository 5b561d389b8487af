/** The store cannot be reached or written right now. The request is fine and may succeed later. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown, message = 'the store cannot be reached right now: try again') {
    super(message, { cause })
  }
}

/** The store cancelled the statement, for example after waiting for a lock, and changed nothing. */
export class StoreBusy extends StoreUnavailable {
  constructor(cause: unknown) {
    super(cause, 'the store is busy right now: try again')
  }
}

/** Turns the errors of the drivers that mean "unavailable" or "busy" into those classes, and returns all others as they are. */
export function classifyStoreError(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error
  if (isBusyError(error)) return new StoreBusy(error)
  if (isDiskFullError(error)) return new StoreUnavailable(error, DISK_FULL)
  return isUnavailableError(error) ? new StoreUnavailable(error) : error
}

/** Whether no statement can succeed at the moment. */
export const isUnreachable = (error: unknown): error is StoreUnavailable =>
  error instanceof StoreUnavailable && !(error instanceof StoreBusy)

/** Retries while the store is unavailable, until the signal is aborted. */
export function retryUntilAvailable<T>(attempt: () => Promise<T>, signal?: { readonly aborted: boolean }): Promise<T> {
  return retryWhile(attempt, (error) => error instanceof StoreUnavailable && !signal?.aborted)
}

/** Waits by the real clock, not the injected one, because only real time brings a database back. */
export async function retryWhile<T>(attempt: () => Promise<T>, canRetry: (error: unknown) => boolean): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!canRetry(error)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS))
  }
}

const RETRY_DELAY_MS = 250

/** Null after a timeout. A process that was suspended first reads what has arrived meanwhile. */
export async function resolveWithin<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => setImmediate(() => setImmediate(resolve, null)), ms)
  })
  promise.catch(() => {})
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}

/** Whether the store is expected back within seconds, for example after a restart or a failover. */
export const isOutage = (error: unknown): boolean => isUnreachable(error) && !isDiskFullError(error.cause)

/** Whether all connections of the pool were in use for too long. */
export const isPoolTimeout = (error: unknown): boolean =>
  isUnreachable(error) && error.cause instanceof Error && error.cause.message.includes(POOL_TIMEOUT)

const POOL_TIMEOUT = 'timeout exceeded when trying to connect'

/** What a caller reads when the disk of the database has no space. */
export const DISK_FULL = 'the disk of the store is full: try again when it has space'

const isDiskFullError = (error: unknown) =>
  error instanceof Error &&
  (('errcode' in error && error.errcode === SQLITE_FULL) || ('code' in error && error.code === POSTGRES_DISK_FULL))

const SQLITE_FULL = 13
const POSTGRES_DISK_FULL = '53100'

const isBusyError = (error: unknown) => error instanceof Error && 'code' in error && BUSY_CODES.has(error.code)

const STATEMENT_TIMEOUT = '57014'
const LOCK_NOT_AVAILABLE = '55P03'
const BUSY_CODES = new Set<unknown>([STATEMENT_TIMEOUT, LOCK_NOT_AVAILABLE])

function isUnavailableError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, errcode, syscall, severity } = error as Error &
    Record<'code' | 'errcode' | 'syscall' | 'severity', unknown>
  if (typeof errcode === 'number') return SQLITE_UNAVAILABLE_CODES.has(errcode & 0xff)
  if (typeof code !== 'string') return DRIVER_MESSAGES.some((message) => error.message.includes(message))
  // A missing Unix socket is a missing file.
  return (
    POSTGRES_UNAVAILABLE_CLASSES.has(code.slice(0, 2)) ||
    POSTGRES_UNAVAILABLE_CODES.has(code) ||
    // The server ends the connection, for example because its disk is full; only a wrong login is our own fault.
    (ENDING_SEVERITIES.has(severity) && !POSTGRES_LOGIN_CLASSES.has(code.slice(0, 2))) ||
    NETWORK_ERROR_CODES.has(code) ||
    (code === 'ENOENT' && syscall === 'connect')
  )
}

/** Busy, read-only, i/o error, full, cannot be opened. */
const SQLITE_UNAVAILABLE_CODES = new Set([5, 8, 10, 13, 14])

/** Connection failures, missing resources such as disk space, errors of the server's machine. */
const POSTGRES_UNAVAILABLE_CLASSES = new Set(['08', '53', '58'])
/** Refused credentials and a missing database. */
const POSTGRES_LOGIN_CLASSES = new Set(['28', '3D'])
const ENDING_SEVERITIES = new Set<unknown>(['FATAL', 'PANIC'])

const POSTGRES_UNAVAILABLE_CODES = new Set([
  // The server is stopping, has crashed, or is starting.
  '57P01',
  '57P02',
  '57P03',
  // The transaction was idle for too long; the server is read-only, as during a failover.
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

/** Errors of the driver itself have no code. */
const DRIVER_MESSAGES = [
  'Connection terminated',
  'timeout expired',
  POOL_TIMEOUT,
  'Query read timeout',
  'Client has encountered a connection error',
]
