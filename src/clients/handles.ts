import { z } from 'zod'

/** An address or name by which a client is known on some channel. */
export const clientHandle = z.string().trim().min(1).max(320)

/** Handles are compared in this form: case does not matter, nor how an accent is written. */
export const normalizeHandle = (handle: string): string => handle.trim().normalize('NFC').toLowerCase()

/** Whether a mail to these addresses reaches one of the handles. `Ada <ada@example.com>` is ada@example.com. */
export function isAddressedToHandle(recipients: readonly string[], handles: readonly string[]): boolean {
  const known = new Set(handles.map(normalizeHandle))
  return recipients.some((recipient) => known.has(normalizeHandle(/<([^<>]+)>\s*$/.exec(recipient)?.[1] ?? recipient)))
}
