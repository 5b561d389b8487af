import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

/** A request over HTTP, as authentication and the routes see it. */
export class HttpRequest {
  readonly id: string
  readonly raw: IncomingMessage
  /** The bytes of the body when they have been read; a route with `streamsBody` reads them itself. */
  body: Buffer | undefined
  readonly #proxies: BlockList

  constructor(id: string, raw: IncomingMessage, trustedProxies: BlockList) {
    this.id = id
    this.raw = raw
    this.#proxies = trustedProxies
  }

  get method(): string {
    return this.raw.method ?? ''
  }

  get url(): string {
    return this.raw.url ?? ''
  }

  get path(): string {
    return this.url.split('?')[0] ?? ''
  }

  get headers(): IncomingHttpHeaders {
    return this.raw.headers
  }

  /** The client's address: the last one that is not a trusted proxy. The connection's own if a proxy forwards none. */
  get address(): string {
    const peer = this.raw.socket.remoteAddress ?? ''
    const forwarded = [this.headers['x-forwarded-for'] ?? []].flat().join().split(',')
    const hops = [...forwarded.map((hop) => hop.trim()).filter(Boolean), peer]
    const client = hops.findLast((hop) => !includesAddress(this.#proxies, hop)) ?? hops[0] ?? ''
    return isIP(client) ? client : peer
  }
}

/** The entries have been validated at the start. An IPv4 rule also matches the address as ::ffff:a.b.c.d. */
export function toBlockList(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** False for a text that is not an address. */
export function includesAddress(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
