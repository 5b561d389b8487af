import { lookup as systemLookup } from 'node:dns'
import { connect, isIP, type Socket } from 'node:net'
import type { Ctx } from '../ctx/ctx.ts'
import { isAllowedAddress, isPrivateAddress, parseAllowedHosts, PRIVATE_ADDRESS } from './address-rules.ts'
import { EgressError, type EgressOptions, guardedLookup, toEgressError } from './http-client.ts'

export interface TcpTarget {
  host: string
  port: number
  /** For the whole use of the connection, from the DNS lookup until `close`. */
  timeoutMs: number
}

export interface TcpConnection {
  socket: Socket
  /** The address is outside the public internet, so SVC_EGRESS_ALLOW lists it. */
  isPrivate: boolean
  /** The time ran out, and the socket was closed for that reason. */
  isTimedOut(): boolean
  close(): void
}

/**
 * Opens a TCP connection for a library that would otherwise resolve and connect by itself, such as an SMTP client. The
 * address is checked at connect time by the rules of the HTTP client, so a DNS name that changes cannot lead elsewhere.
 */
export function openTcpConnection(
  ctx: Pick<Ctx, 'config' | 'world'>,
  { host, port, timeoutMs }: TcpTarget,
  options: EgressOptions = {},
): Promise<TcpConnection> {
  const allowed = parseAllowedHosts([...ctx.config.egressAllow, ...(options.trusted ?? [])], port)
  // Node.js does not look up a host that is an address, so it is checked here.
  if (isIP(host) && !isAllowedAddress(allowed, host, host)) {
    throw new EgressError('blocked', `destination is not allowed: ${PRIVATE_ADDRESS}`)
  }
  return new Promise((resolve, reject) => {
    let timedOut = false
    const socket = connect({ host, port, lookup: guardedLookup(allowed, options.lookup ?? systemLookup) })
    const stopTimeout = ctx.world.clock.after(timeoutMs, () => {
      timedOut = true
      socket.destroy(new EgressError('timeout', 'the server did not respond in time'))
    })
    const close = () => {
      stopTimeout()
      socket.destroy()
    }
    const fail = (error: Error) => {
      close()
      reject(toEgressError(error))
    }
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.off('error', fail)
      // The user of the socket adds its own listeners; without any, an error would end the process.
      socket.on('error', () => {})
      const isPrivate = isPrivateAddress(socket.remoteAddress ?? '')
      resolve({ socket, isPrivate, isTimedOut: () => timedOut, close })
    })
  })
}

/**
 * The address of a host for a library that opens its connections itself. It must connect to the address and not to the name,
 * which may lead elsewhere by then. Throws for an address outside the public internet that SVC_EGRESS_ALLOW does not list.
 */
export function resolveAllowedAddress(ctx: Pick<Ctx, 'config'>, host: string, port: number): Promise<string> {
  const allowed = parseAllowedHosts(ctx.config.egressAllow, port)
  return new Promise((resolve, reject) => {
    if (isIP(host) > 0 && !isAllowedAddress(allowed, host, host))
      throw new EgressError('blocked', `destination is not allowed: ${PRIVATE_ADDRESS}`)
    if (isIP(host) > 0) return resolve(host)
    guardedLookup(allowed, systemLookup)(host, { all: false }, (error, address) => {
      if (error || typeof address !== 'string') reject(toEgressError(error))
      else resolve(address)
    })
  })
}
