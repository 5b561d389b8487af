/** What the service says of a server that it did not reach, or that does not know the address. */
const WRONG_ADDRESS =
  /cannot be reached|did not respond in time|destination is not allowed|answered (404|3\d\d|with a redirect)\b/
const SERVER_FAILS = /answered 5\d\d\b/

interface BrokenConnection {
  kind: string
  status: string
  last_error: string | null
}

/** What repairs a connection: its address or its credential; null: only the server itself. */
export function chooseRepair({ kind, status, last_error }: BrokenConnection): 'address' | 'credential' | null {
  if (status !== 'connected' || last_error === null) return 'credential'
  if (SERVER_FAILS.test(last_error)) return null
  // The address of a broker is a setting of the service.
  return kind !== 'broker' && WRONG_ADDRESS.test(last_error) ? 'address' : 'credential'
}
