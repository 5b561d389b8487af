import { rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import type { Driver } from '../sandbox/driver.ts'

/** A cell's own way to the service: a Unix socket that nobody else can reach. */
export interface Door {
  /** Where it lies, and where the cell sees it; null: the cell has none. */
  socket: string | null
  inside: string | null
  close(): void
}

/** The bundled harness asks by its pipe. */
export const NO_DOOR: Door = { socket: null, inside: null, close: () => {} }

/** What is behind the doors, and which cell a connection came from. */
export interface Hall {
  door: RequestListener
  doors: WeakMap<Socket, string>
}

export async function openDoor({ door, doors }: Hall, driver: Driver, parent: string, cellId: string): Promise<Door> {
  const socket = join(driver.socketDir(parent), 's')
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, door)
  server.maxConnections = MOST_CONNECTIONS
  server.on('connection', (connection) => doors.set(connection, cellId))
  await listen(server, socket)
  driver.prepareSocket(socket)
  return {
    socket,
    inside: driver.socketInside(socket),
    close() {
      server.closeAllConnections()
      server.close()
      rmSync(dirname(socket), { recursive: true, force: true })
    },
  }
}

/** More than an honest program needs; one that opens more would eat the service's descriptors. */
const MOST_CONNECTIONS = 256

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
}
