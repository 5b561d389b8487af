import type { Clock } from '../../../platform/ctx/world.ts'

/** The server had not finished a piece of work when its time was over, and the connection was closed. */
export class MailServerTooSlow extends Error {}

/** A piece of work of a mail server. */
export interface ServerWork {
  description: string
  maxMinutes: number
}

/**
 * The result of work on a connection. When the time is over, or the connection is aborted, it is closed and this throws at
 * once. The timeout of a socket is not enough: it starts again with every byte.
 */
export async function limitServerWork<Result>(
  clock: Clock,
  connection: AbortController,
  { description, maxMinutes }: ServerWork,
  start: () => Promise<Result>,
): Promise<Result> {
  const { signal } = connection
  signal.throwIfAborted()
  const listening = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { signal: listening.signal })
  })
  const cancelTimer = clock.after(maxMinutes * 60_000, () =>
    connection.abort(new MailServerTooSlow(`the mail server took more than ${maxMinutes} minutes to ${description}`)),
  )
  try {
    return await Promise.race([aborted, start()])
  } catch (error) {
    // The closed connection may have been the first to fail.
    throw signal.aborted ? signal.reason : error
  } finally {
    cancelTimer()
    listening.abort()
  }
}
