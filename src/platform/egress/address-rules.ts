import { BlockList, isIP } from 'node:net'

/**
 * Addresses outside the public internet: this machine, private networks, link-local with cloud metadata, Azure's
 * metadata address (168.63.129.16), carrier networks, documentation, multicast, and IPv6 forms that embed IPv4.
 *
 * IPv4 and IPv6 need separate lists: one BlockList checks an IPv4 address against IPv6 rules too (as ::ffff:a.b.c.d),
 * so a rule that covers ::ffff:0:0/96 would block the whole internet.
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

/** True for addresses that are blocked unless SVC_EGRESS_ALLOW lists them; text that is no address counts as private. */
export function isPrivateAddress(address: string): boolean {
  const bare = withoutZone(address)
  const family = isIP(bare)
  if (family === 4) return PRIVATE_V4.check(bare, 'ipv4')
  // The IPv4 list also matches ::ffff:a.b.c.d in any spelling.
  if (family === 6) return PRIVATE_V6.check(bare, 'ipv6') || PRIVATE_V4.check(bare, 'ipv6')
  return true
}

/** The entries of SVC_EGRESS_ALLOW that hold for one port: host names, addresses and networks. */
export interface AllowedHosts {
  hosts: Set<string>
  v4: BlockList
  v6: BlockList
}

/** What the entries allow on this port. An entry with a port, such as `10.0.0.5:8443`, holds for this port only. */
export function parseAllowedHosts(entries: readonly string[], port: number): AllowedHosts {
  const allowed: AllowedHosts = { hosts: new Set(), v4: new BlockList(), v6: new BlockList() }
  for (const entry of entries) {
    const { name, prefix, family, onlyPort } = parseAllowedHost(entry)
    if (onlyPort !== null && onlyPort !== port) continue
    if (family === 4) allowed.v4.addSubnet(name, prefix, 'ipv4')
    else if (family === 6) allowed.v6.addSubnet(name, prefix, 'ipv6')
    else allowed.hosts.add(name)
  }
  return allowed
}

function parseAllowedHost(entry: string) {
  // An IPv6 address has a port only behind brackets.
  const [, withPort, portText] = /^(\[[^\]]+\](?:\/\d+)?|[^:[]+):([^:]*)$/.exec(entry) ?? []
  const [name = '', bits] = (withPort ?? entry).replaceAll(/[[\]]/g, '').toLowerCase().split('/')
  const family = isIP(name)
  const maxBits = family === 4 ? 32 : 128
  const prefix = bits === undefined ? maxBits : Number(bits)
  const onlyPort = portText === undefined ? null : Number(portText)
  const isNetwork = bits === undefined || (family > 0 && /^\d+$/.test(bits) && prefix <= maxBits)
  const isPort = portText === undefined || (/^\d+$/.test(portText) && Number(portText) <= 65_535)
  if (!isNetwork || !isPort || (family === 0 && name.includes(':')))
    throw new Error(
      `SVC_EGRESS_ALLOW: '${entry}' must be a host name, an address or a network (such as 10.0.0.0/8), with or without a port (such as 10.0.0.5:8443)`,
    )
  return { name, prefix, family, onlyPort }
}

/** Why an address that is not allowed is refused, with what an operator can do. */
export const PRIVATE_ADDRESS = 'its address is private or reserved, and SVC_EGRESS_ALLOW does not list it'

export function isAllowedAddress(allowed: AllowedHosts, host: string, address: string): boolean {
  if (!isPrivateAddress(address)) return true
  if (allowed.hosts.has(host.toLowerCase())) return true
  const bare = withoutZone(address)
  const family = isIP(bare)
  if (family === 4) return allowed.v4.check(bare, 'ipv4')
  return family === 6 && (allowed.v6.check(bare, 'ipv6') || allowed.v4.check(bare, 'ipv6'))
}

/** True for a host that SVC_EGRESS_ALLOW names itself: the operator knows it and its network. */
export function isListedHost(allowed: AllowedHosts, host: string): boolean {
  const family = isIP(host)
  if (family === 0) return allowed.hosts.has(host.toLowerCase())
  return family === 4 ? allowed.v4.check(host, 'ipv4') : allowed.v6.check(host, 'ipv6')
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
