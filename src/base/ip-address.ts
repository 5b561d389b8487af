import { isIPv6 } from 'node:net'

/**
 * What one caller has of addresses: an IPv4 address, also where it is written inside of an IPv6 one, and of IPv6 the /64,
 * from which anybody can call by a new address each time.
 */
export function toClientNetwork(address: string): string {
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return address
  const inside = /^::ffff:([\d.]+)$/i.exec(bare)?.[1]
  if (inside !== undefined) return inside
  const [before = [], after = []] = bare.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const groups = [...before, ...zeros, ...after].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
