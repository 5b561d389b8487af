import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { toClientNetwork } from '../base/ip-address.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { includesAddress, toBlockList } from './http-request.ts'

/** The connections of each address that have not sent a valid credential yet. */
export interface ConnectionLimit {
  /** Stops counting the connection, because a request on it was authenticated. */
  release(socket: Socket): void
}

/**
 * Closes new connections of an address that has too many without a valid credential, so that one caller cannot use up
 * the file descriptors. Trusted proxies have no limit, because all callers connect through them.
 */
export function limitConnections(server: Server, { config, counts }: Ctx): ConnectionLimit {
  const max = config.maxConnectionsPerAddress
  const proxies = toBlockList(config.trustedProxies)
  const open = new Map<string, number>()
  const networks = new WeakMap<Socket, string>()
  const release = (socket: Socket) => {
    const network = networks.get(socket)
    if (network === undefined) return
    networks.delete(socket)
    socket.off('close', releaseThis)
    const left = (open.get(network) ?? 1) - 1
    if (left > 0) open.set(network, left)
    else open.delete(network)
  }
  // One function for all sockets, because a closure for each would stay in memory as long as its stream.
  function releaseThis(this: Socket) {
    release(this)
  }
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    if (max === 0 || includesAddress(proxies, address)) return
    const network = toClientNetwork(address)
    const count = open.get(network) ?? 0
    if (count >= max) {
      counts.refusedConnections++
      socket.destroy()
      return
    }
    open.set(network, count + 1)
    networks.set(socket, network)
    socket.on('close', releaseThis)
  })
  return { release }
}
