import { isIPv6 } from 'node:net'

/** Whether a host name or address is this machine itself. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^(::ffff:)?127(\.\d+){3}$/.test(host)

/**
 * The network that identifies a client for limits: its IPv4 address (also when mapped into IPv6), or its IPv6 /64,
 * because one client can use any address of it.
 */
export function toClientNetwork(address: string): string {
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return address
  const mapped = /^::ffff:([\d.]+)$/i.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  const [before = [], after = []] = bare.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const groups = [...before, ...zeros, ...after].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
