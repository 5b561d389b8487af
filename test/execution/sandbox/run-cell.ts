import { createServer } from 'node:http'
import { mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CellExit, CellLimits, CellSpec, SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { DEFAULT_CELL_LIMITS } from '../../../src/execution/sandbox/cgroup/cell-limits.ts'

export interface CellResult {
  lines: string[]
  exit: CellExit
}

export type CellRequest = Partial<Omit<CellSpec, 'limits'>> & {
  limits?: Partial<CellLimits>
  agent?: string
  input?: string
}

/** The complete specification of a cell that runs the source `agent`, unless the request names another command. */
export function cellSpec(request: CellRequest, agentDir: string): CellSpec {
  if (request.agent !== undefined) writeFileSync(join(agentDir, 'agent.cjs'), request.agent)
  const { agent: _agent, input: _input, limits, ...rest } = request
  return {
    profile: 'sealed',
    command: ['node', '/agent/agent.cjs'],
    agentDir,
    socket: null,
    ...rest,
    limits: { ...DEFAULT_CELL_LIMITS, ...limits },
  }
}

export async function runCell(driver: SandboxDriver, request: CellRequest): Promise<CellResult> {
  return inTemporaryFolder(async (agentDir) => {
    const spec = cellSpec(request, agentDir)
    if (request.command === undefined) spec.command = ['node', `${driver.agentDirInside(agentDir)}/agent.cjs`]
    const cell = driver.start(spec)
    const lines: string[] = []
    cell.onLine((line) => void lines.push(line))
    if (request.input !== undefined) cell.write(request.input)
    cell.closeInput()
    return { lines, exit: await cell.exited }
  })
}

/** Runs a Python program in a workshop. */
export function runPython(
  driver: SandboxDriver,
  program: string,
  limits: Partial<CellLimits> = {},
): Promise<CellResult> {
  return runCell(driver, { profile: 'workshop', command: ['python3', '-c', program], limits })
}

export async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
  chmodSync(folder, 0o755)
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An HTTP server that responds with `hello`, on a socket for one cell. */
export async function withSocketServer<T>(
  driver: SandboxDriver,
  parent: string,
  use: (socket: string) => Promise<T>,
): Promise<T> {
  const folder = driver.createSocketFolder(parent)
  const socket = join(folder, 's')
  const server = createServer((_request, response) => response.end('hello'))
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  driver.prepareSocket(socket)
  try {
    return await use(socket)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A program that sends a request over `socket` and prints the response or the error code. */
export function requestingAgent(socket: string): string {
  return `
    require('node:http').get({ socketPath: ${JSON.stringify(socket)}, path: '/' }, (response) => {
      response.on('data', (data) => console.log(String(data)))
    }).on('error', (error) => console.log(error.code))`
}

/** A program that tries each expression and prints its name and outcome on one line. */
export function attemptingAgent(attempts: Record<string, string>): string {
  const tries = Object.entries(attempts).map(
    ([name, code]) => `try { ${code}; console.log(${JSON.stringify(name)}, 'done') }
      catch (error) { console.log(${JSON.stringify(name)}, error.code) }`,
  )
  return `const fs = require('node:fs'); ${tries.join('\n')}`
}

/** A module that sends a request with `fetch` to a server of its own, and prints the version of Node and the response. */
export const FETCHING_AGENT = `
import { createServer } from 'node:http'
import { once } from 'node:events'
const server = createServer((request, response) => request.pipe(response)).listen(0, '127.0.0.1')
await once(server, 'listening')
const response = await fetch('http://127.0.0.1:' + server.address().port, { method: 'POST', body: 'hello' })
console.log(process.version, 'got', await response.text())
process.exit()`
