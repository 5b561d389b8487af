import type { Json, JsonObject } from '../base/json.ts'
import type { TranscriptEntry } from './transcript.ts'

/**
 * The first message to an agent. The agent reads one brief, writes lines, and ends with an output or an error; it does
 * everything that has an effect through the sandbox plane.
 */
export interface Brief {
  v: 1
  task: { id: string; wedge: string; task_type: string; input: Json; constraints: JsonObject }
  instructions: string
  skills: NamedText[]
  /** Skills whose files the agent reads when it needs them; absent if there are none. */
  skill_folders?: BriefSkillFolder[] | undefined
  knowledge: NamedText[]
  history: HistoryMessage[]
  files: BriefFile[]
  output_schema: JsonObject | null
  strict_output: boolean
  /** The names of the tools that the model may use. */
  tools: string[]
  connections: BriefConnection[]
  workflows: WorkflowDeclaration[]
  case: JsonObject | null
  /** The action that sends the field `reply` of the output to the client; absent if the client reads it in the portal. */
  reply?: { capability: string } | undefined
  /** A tool whose name contains one of these (case-insensitive) must pass the gate first. */
  gate_patterns: string[]
  shape: HarnessShape
  steps: number
  temperature: number | null
  model: { wire: ModelProvider; name: string }
  service: { socket: string | null; base_url: string; task_token: string; gate_token: string }
  /** The largest file that the run may deliver, in MiB; 10 if it is absent. */
  artifact_max_mb?: number | undefined
  /** For a run of the bundled harness that continues in this process. */
  transcript?: BriefTranscript | undefined
  /** For a custom agent that continues from its checkpoint. */
  resume?: BriefResume | undefined
}

/** How long a program may run after its output, and its children after its exit. */
export const EXIT_GRACE_MS = 2000

/** The largest file of a run, in MiB: in the database, and in an object store, where the lines of an agent limit it. */
export const MAX_ARTIFACT_MB = { database: 10, s3: 20 }

/** `lost_files`: the agent may have written files, and they are gone. */
export type BriefTranscript = { entries: TranscriptEntry[]; logged: LoggedStep; lost_files: boolean }

/** What the log already has of the last step: its number, and the ids of the calls with `tool.called` and `tool.result`. */
export interface LoggedStep {
  step: number
  called: string[]
  returned: string[]
}

/** `pending`: the request that waited for a decision when the earlier process ended, with its outcome. */
export interface BriefResume {
  checkpoint: Json
  pending: { approval_id: string; action: string; decision: string; result: Json } | null
}

export type HarnessShape = 'agent' | 'decide' | 'workflow'
export type ModelProvider = 'anthropic' | 'openai'
export type NamedText = { name: string; content: string }
/** `unverified`: nothing proves that the client wrote the message. */
export type HistoryMessage = {
  direction: 'inbound' | 'outbound'
  from: string
  body: string
  at: string
  unverified?: true
}
/** `path` is the folder in the cell, read-only; null in a cell in which no program can run. */
export type BriefSkillFolder = { name: string; description: string; files: string[]; path: string | null }
/** A file of the task or of its thread. `path` is where the agent can read it; it cannot be changed there. */
export type BriefFile = { id: string; name: string; content_type: string; size: number; path: string }
export type BriefConnection = {
  name: string
  kind: string
  toolkit?: string
  read_tools?: string[]
  /** What the agent may call by name; absent for a connection that has no tools by name. */
  tools?: BriefTool[]
}
/** A `read` needs no approval; `ask` is an action. */
export type BriefTool = {
  name: string
  capability: string
  description: string
  input_schema: JsonObject
  class: 'read' | 'ask'
}
export type WorkflowDeclaration = {
  name: string
  description?: string | undefined
  input_schema?: JsonObject | undefined
  output_schema?: JsonObject | undefined
}

/** The event types that an agent may write. It cannot forge approvals, costs or the end of its task. */
export const AGENT_EVENT_TYPES = ['step.started', 'tool.called', 'tool.result', 'progress', 'token.delta'] as const
export type AgentEventType = (typeof AGENT_EVENT_TYPES)[number]

export type AgentLine =
  | { event: AgentEventType; data: JsonObject }
  | { artifact: { name: string; content_type: string; content_base64: string } }
  | { turn: TranscriptEntry }
  | { checkpoint: Json }
  | { output: Json }
  | { error: string }

/**
 * A shared cell runs many briefs at once, so each of its lines names a run. Lines to the cell start or abort a run or
 * respond to it; lines from the cell are agent lines and requests.
 */
export type CellInput = { run: string } & ({ start: Brief } | { abort: true } | PipeResponse)
export type CellOutput = { run: string } & (AgentLine | PipeRequest)

/**
 * A request of the bundled harness. Other agents use HTTP; the harness sends lines on its pipe, with the same routes,
 * tokens and responses but without the cost of a connection.
 */
export interface PipeRequest extends PlaneRequest {
  /** The id of the request, unique in the run; the response has the same one. */
  ask: number
  /** A request that must get a 200 before this one is made; any other response is the response to both. */
  first?: PlaneRequest | undefined
}

export interface PlaneRequest {
  token: string
  method: string
  path: string
  headers?: Record<string, string> | undefined
  body?: JsonObject | undefined
}

/** An event stream is sent in pieces. Every response ends with a status, or with `cut` if it was interrupted. */
export type PipeResponse = { answer: number } & PipeResponsePart
export type PipeResponsePart = { piece: string } | CompleteResponse | { cut: true }

/** `first`: this is the response to the `first` request. */
export interface CompleteResponse {
  piece?: string
  status: number
  body: Json
  first?: true
}

/** The paths of the service socket and of the agent's own files inside the sandbox. */
export const CELL_SOCKET = '/run/svc.sock'
export const CELL_AGENT_DIR = '/agent'

/** Only the files of this folder are shown to the client of the task; all others are for the founder. */
const CLIENT_FILES_FOLDER = 'client/'
export const isClientFile = (name: string): boolean => name.startsWith(CLIENT_FILES_FOLDER)
