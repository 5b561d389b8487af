import { isIP } from 'node:net'

/** Refuses, at start, entries that would trust no address, or every address (a network of 0 bits). */
export function checkTrustedProxies(names: string[]): string[] {
  const bad = names.find((name) => !isNetwork(name))
  if (bad === undefined) return names
  throw new Error(`SVC_TRUSTED_PROXIES must list IP addresses or networks, and '${bad}' is neither`)
}

function isNetwork(name: string): boolean {
  const [address = '', bits, ...more] = name.split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}
