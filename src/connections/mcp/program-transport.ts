import type { Transport } from '@modelcontextprotocol/client'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { RunningProgram, WedgeProgram } from '../../platform/ctx/program-starter.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import { cleanText } from './clean-text.ts'
import { failSession, type SessionState } from './session-state.ts'

/** All that the program writes during one session: pages of tools, a result with images, messages of its log. */
const MAX_OUTPUT_CHARACTERS = 16 * 1024 * 1024
/** Parsing a message costs more than its bytes. */
const MAX_LINES = 1_000
const MAX_REASON_CHARACTERS = 300

/**
 * Starts the program and speaks JSON lines with it. The package's own transport for programs cannot be used, because it
 * would start them outside the sandbox.
 */
export function openProgramTransport(
  ctx: Ctx,
  { deserializeMessage }: typeof import('./mcp-client.ts'),
  program: WedgeProgram,
  state: SessionState,
): { transport: Transport; running: RunningProgram } {
  let output = 0
  let lines = 0
  const onLine = (line: string) => {
    output += line.length
    if (++lines > MAX_LINES || output > MAX_OUTPUT_CHARACTERS)
      return failSession(state, new EgressError('too_large', 'the server writes too much', { sent: true }))
    const message = readMessage(line, deserializeMessage)
    if (message) transport.onmessage?.(message)
  }
  const running = ctx.programStarter.start(program, onLine)
  if (!running) throw new EgressError('unreachable', 'too many servers of wedges are running: try again later')
  const transport = createTransport(running)
  state.over.signal.addEventListener('abort', () => void running.kill(), { once: true })
  void running.exited.then(({ stderr }) => {
    failSession(state, new EgressError('unreachable', describeExit(stderr, state), { sent: true }))
    transport.onclose?.()
  })
  return { transport, running }
}

function createTransport(running: RunningProgram): Transport {
  // The client package recognises a program by `pid` and `stderr`: an old one may ignore the question for its version.
  const shape = { pid: null, stderr: null }
  const transport: Transport = {
    start: async () => {},
    send: async (message) => running.write(JSON.stringify(message)),
    close: () => running.kill(),
  }
  return Object.assign(transport, shape)
}

/** Null for a line that is not a message: programs print other lines by mistake. */
function readMessage(line: string, deserialize: typeof import('./mcp-client.ts').deserializeMessage) {
  try {
    return deserialize(line)
  } catch {
    return null
  }
}

/** With the error of a program that does not start. During a call the text could contain the arguments of the call. */
function describeExit(stderr: string, { isCalling }: SessionState): string {
  if (isCalling) return 'the server ended during the call'
  const lines = cleanText(stderr)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const reason = lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1)
  return reason === undefined ? 'the server ended' : `the server ended: ${reason.slice(0, MAX_REASON_CHARACTERS)}`
}
