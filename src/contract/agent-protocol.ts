import type { Json, JsonObject } from '../base/json.ts'

/**
 * What the service and an agent say to each other. The agent reads one brief, writes lines, and ends with an output or
 * an error; everything with an effect goes over the sandbox plane instead. This file is all that the harness shares
 * with the service.
 */
export interface Brief {
  v: 1
  task: { id: string; wedge: string; task_type: string; input: Json; constraints: JsonObject }
  instructions: string
  skills: NamedText[]
  knowledge: NamedText[]
  history: HistoryMessage[]
  output_schema: JsonObject | null
  strict_output: boolean
  /** Names of the tools that the model may see. */
  tools: string[]
  connections: BriefConnection[]
  workflows: WorkflowDeclaration[]
  case: JsonObject | null
  /** A tool whose name contains one of these (case-insensitive) must pass the gate first. */
  gate_patterns: string[]
  shape: HarnessShape
  steps: number
  temperature: number | null
  model: { wire: ModelProvider; name: string }
  service: { socket: string | null; base_url: string; task_token: string; gate_token: string }
}

export type HarnessShape = 'agent' | 'decide' | 'workflow'
export type ModelProvider = 'anthropic' | 'openai'
export type NamedText = { name: string; content: string }
export type HistoryMessage = { direction: 'inbound' | 'outbound'; from: string; body: string; at: string }
export type BriefConnection = { name: string; kind: string; toolkit?: string; read_tools?: string[] }
export type WorkflowDeclaration = {
  name: string
  description?: string | undefined
  input_schema?: JsonObject | undefined
  output_schema?: JsonObject | undefined
}

/** The only event types that an agent may write: it cannot forge approvals, costs or the end of its task. */
export const AGENT_EVENT_TYPES = ['step.started', 'tool.called', 'tool.result', 'progress', 'token.delta'] as const
export type AgentEventType = (typeof AGENT_EVENT_TYPES)[number]

export type AgentLine =
  | { event: AgentEventType; data: JsonObject }
  | { artifact: { name: string; content_type: string; content_base64: string } }
  | { output: Json }
  | { error: string }

/**
 * A shared cell runs many briefs at once, so its lines carry the run they belong to. Lines to the cell start a run,
 * abort it or answer it; lines from the cell are agent lines and questions with the run's tag.
 */
export type CellInput = { run: string } & ({ start: Brief } | { abort: true } | PipeResponse)
export type CellOutput = { run: string } & (AgentLine | PipeRequest)

/**
 * What other agents ask over HTTP, the bundled harness asks by lines on the pipe that it has anyway: the same routes,
 * tokens and answers, without the cost of a connection.
 */
export interface PipeRequest extends PlaneRequest {
  /** The number by which the answer names its question; one of its own for each of a run. */
  ask: number
  /** Must be answered with 200 before the rest is asked at all; any other answer is the answer to both. */
  first?: PlaneRequest | undefined
}

export interface PlaneRequest {
  token: string
  method: string
  path: string
  headers?: Record<string, string> | undefined
  body?: JsonObject | undefined
}

/** An event stream comes in pieces; the status, or the word that it was cut off, ends every answer. */
export type PipeResponse = { answer: number } & PipeResponsePart
export type PipeResponsePart = { piece: string } | CompleteResponse | { cut: true }

/** `first`: the answer is that to the question which was to be asked first. */
export interface CompleteResponse {
  piece?: string
  status: number
  body: Json
  first?: true
}

/** Where the sandbox sees the service's socket and the agent's own files. */
export const CELL_SOCKET = '/run/svc.sock'
export const CELL_AGENT_DIR = '/agent'
