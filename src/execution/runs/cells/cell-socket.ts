import { rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { keepAllHeaders } from '../../../platform/http/server.ts'
import type { SandboxDriver } from '../../sandbox/driver.ts'

/** The Unix socket of one cell, which no other cell can reach. */
export interface CellSocket {
  /** Null if the cell has no socket. */
  path: string | null
  pathInside: string | null
  close(): void
}

/** The bundled harness sends its requests over the pipe. */
export const NO_CELL_SOCKET: CellSocket = { path: null, pathInside: null, close: () => {} }

/** Handles requests on the sockets and remembers which cell a connection belongs to. */
export interface CellSocketHandler {
  onRequest: RequestListener
  cellIds: WeakMap<Socket, string>
}

export async function openCellSocket(
  { onRequest, cellIds }: CellSocketHandler,
  driver: SandboxDriver,
  parent: string,
  cellId: string,
): Promise<CellSocket> {
  const socket = join(driver.createSocketFolder(parent), 's')
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, onRequest)
  server.maxConnections = MAX_CONNECTIONS
  keepAllHeaders(server)
  server.on('connection', (connection) => cellIds.set(connection, cellId))
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

/** More than a well-behaved program needs; more connections would use up the file descriptors of the service. */
const MAX_CONNECTIONS = 256

function listenOn(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
}
