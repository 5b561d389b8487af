/** The form in which handles are compared: without case, and with one Unicode form for accents. */
export const normalizeHandle = (handle: string): string => handle.trim().normalize('NFC').toLowerCase()

/** Whether one of the mail addresses is one of the handles. `Ada <ada@example.com>` counts as ada@example.com. */
export function isAddressedToHandle(recipients: readonly string[], handles: readonly string[]): boolean {
  const known = new Set(handles.map(normalizeHandle))
  return recipients.some((recipient) => known.has(normalizeHandle(/<([^<>]+)>\s*$/.exec(recipient)?.[1] ?? recipient)))
}
