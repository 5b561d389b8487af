import { errorMessage } from '../../../platform/base/error-message.ts'
import { textField } from '../../../platform/base/json-fields.ts'
import { DEFAULT_AGENT_MEMORY_MB } from '../../../platform/contract/wedge/declared-agents.ts'
import { exitMessage } from '../../../platform/contract/exit-message.ts'
import type { World } from '../../../platform/ctx/world.ts'
import { type AgentCell, type CellOptions, openAgentCell } from './agent-cell.ts'
import { emptyBrief } from './agent-trial.ts'

const FETCH_TIMEOUT_MS = 20_000
const FETCH_RUN = 'fetch'

/**
 * Starts a small custom agent that sends a request with `fetch`, as the libraries of models and of MCP do. It needs neither a
 * store nor a wedge. Returns null if the agent gets the response, otherwise a sentence that says what happened.
 */
export async function tryFetch({ world, dataDir, driver, agentDir }: FetchTrialOptions): Promise<string | null> {
  const ctx = { world, config: { dataDir } }
  const options = { ctx, driver, agentDir, onRequest: respond, cellIds: new WeakMap() }
  const opened = openAgentCell(options, 'custom', AGENT)
  const end = opened.then(
    waitForEnd,
    (error) => `the sandbox could not be started: ${errorMessage(error).slice(0, 500)}`,
  )
  let cancelTimer: (() => void) | undefined
  const tooLate = new Promise<string>((resolve) => {
    const seconds = FETCH_TIMEOUT_MS / 1000
    cancelTimer = world.clock.after(FETCH_TIMEOUT_MS, () => resolve(`the agent got no response in ${seconds} seconds`))
  })
  const problem = await Promise.race([end, tooLate])
  cancelTimer?.()
  // A cell that does not become ready ends with this process.
  void opened.then((cell) => cell.close()).catch(() => {})
  return problem
}

function waitForEnd(cell: AgentCell): Promise<string | null> {
  return new Promise((resolve) => {
    cell.start(FETCH_RUN, emptyBrief('doctor', 'fetch', cell.socketPathInside), {
      onLine: (line) => resolve('output' in line ? null : textField(line, 'error')),
      onExit: ({ signal, code, stderr }) => resolve(exitMessage(signal ?? `exit code ${code}`, stderr)),
    })
  })
}

interface FetchTrialOptions extends Pick<CellOptions, 'driver' | 'agentDir'> {
  world: Pick<World, 'random' | 'clock'>
  /** The folder for the socket, if it exists. */
  dataDir: string
}

const respond: CellOptions['onRequest'] = (request, response) => {
  request.resume()
  response.setHeader('content-type', 'application/json').end('"received"')
}

/** Without single quotes, because the command of an agent is passed to a shell. */
const PROGRAM = `
const response = await fetch(process.env.SVC_BASE_URL, { method: "POST", body: "{}" })
console.log(JSON.stringify({ output: await response.json() }))`

const AGENT = {
  dir: null,
  command: `exec node --input-type=module -e '${PROGRAM}'`,
  memoryMb: DEFAULT_AGENT_MEMORY_MB,
  isInWedge: false,
}
