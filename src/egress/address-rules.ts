import { BlockList, isIP } from 'node:net'

/**
 * Addresses that are not the open internet: this machine, private networks, link-local with the clouds' metadata, the
 * public address behind which a cloud keeps its own (168.63.129.16), carrier networks, documentation, multicast, and
 * the IPv6 forms that carry an IPv4 address inside.
 *
 * Two lists on purpose: one list answers an IPv4 question by IPv6 rules too (as ::ffff:a.b.c.d), so a rule that covers
 * ::ffff:0:0/96 would close the whole internet.
 */
const PRIVATE_V4 = toBlockList('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])
const PRIVATE_V6 = toBlockList('ipv6', [
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
])

/** True for what nobody may reach unless the deployment lists it; what is not an address at all is private too. */
export function isPrivateAddress(address: string): boolean {
  const bare = withoutZone(address)
  const family = isIP(bare)
  if (family === 4) return PRIVATE_V4.check(bare, 'ipv4')
  // The IPv4 list understands ::ffff:a.b.c.d in any spelling.
  if (family === 6) return PRIVATE_V6.check(bare, 'ipv6') || PRIVATE_V4.check(bare, 'ipv6')
  return true
}

/** What `SVC_EGRESS_ALLOW` opens: host names, addresses and networks. */
export interface AllowedHosts {
  hosts: Set<string>
  v4: BlockList
  v6: BlockList
}

export function parseAllowedHosts(entries: readonly string[]): AllowedHosts {
  const reach: AllowedHosts = { hosts: new Set(), v4: new BlockList(), v6: new BlockList() }
  for (const entry of entries) {
    const [name = '', bits] = entry.replaceAll(/[[\]]/g, '').split('/')
    const family = isIP(name)
    const widest = family === 4 ? 32 : 128
    const prefix = bits === undefined ? widest : Number(bits)
    if (bits !== undefined && !(family > 0 && /^\d+$/.test(bits) && prefix <= widest)) {
      throw new Error(`SVC_EGRESS_ALLOW: '${entry}' is neither a host nor a network`)
    }
    if (family === 4) reach.v4.addSubnet(name, prefix, 'ipv4')
    else if (family === 6) reach.v6.addSubnet(name, prefix, 'ipv6')
    else reach.hosts.add(name.toLowerCase())
  }
  return reach
}

export function isAllowedAddress(reach: AllowedHosts, host: string, address: string): boolean {
  if (!isPrivateAddress(address)) return true
  if (reach.hosts.has(host.toLowerCase())) return true
  const bare = withoutZone(address)
  const family = isIP(bare)
  if (family === 4) return reach.v4.check(bare, 'ipv4')
  return family === 6 && (reach.v6.check(bare, 'ipv6') || reach.v4.check(bare, 'ipv6'))
}

const withoutZone = (address: string): string => address.replace(/%.*$/s, '')

function toBlockList(family: 'ipv4' | 'ipv6', networks: string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}
