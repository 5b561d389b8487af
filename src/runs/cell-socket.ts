import { rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import type { SandboxDriver } from '../sandbox/driver.ts'

/** A cell's own way to the service: a Unix socket that nobody else can reach. */
export interface CellSocket {
  /** Where it lies, and where the cell sees it; null: the cell has none. */
  path: string | null
  pathInside: string | null
  close(): void
}

/** The bundled harness asks by its pipe. */
export const NO_CELL_SOCKET: CellSocket = { path: null, pathInside: null, close: () => {} }

/** What is behind the doors, and which cell a connection came from. */
export interface CellSocketHandler {
  onRequest: RequestListener
  cellIds: WeakMap<Socket, string>
}

export async function openCellSocket(
  { onRequest: door, cellIds: doors }: CellSocketHandler,
  driver: SandboxDriver,
  parent: string,
  cellId: string,
): Promise<CellSocket> {
  const socket = join(driver.createSocketFolder(parent), 's')
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, door)
  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', (connection) => doors.set(connection, cellId))
  await listenOn(server, socket)
  driver.prepareSocket(socket)
  return {
    path: socket,
    pathInside: driver.socketPathInside(socket),
    close() {
      server.closeAllConnections()
      server.close()
      rmSync(dirname(socket), { recursive: true, force: true })
    },
  }
}

/** More than an honest program needs; one that opens more would eat the service's descriptors. */
const MAX_CONNECTIONS = 256

function listenOn(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
}
