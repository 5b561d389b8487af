/** The API types, limited to the fields that the console uses. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

export interface Page<T> {
  data: T[]
  next_cursor: string | null
}

export const TASK_STATUSES = [
  'queued',
  'provisioning',
  'running',
  'awaiting_approval',
  'succeeded',
  'failed',
  'rejected',
  'expired',
  'cancelled',
] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

export interface Artifact {
  id: string
  name: string
  content_type: string
  size: number
}

export interface Task {
  id: string
  project_id: string
  wedge: string
  task_type: string
  status: TaskStatus
  input: Json
  actor: Json
  constraints: { max_runtime_s: number; max_cost_usd: number; approval_required: boolean }
  tools: string[]
  output_schema: JsonObject | null
  output: Json
  error: { reason: string; message: string } | null
  cost_usd: number
  artifacts: Artifact[]
  client_id: string | null
  thread_id: string | null
  case_id: string | null
  schedule_id: string | null
  retry_of: string | null
  last_event_id: number
  created_at: string
  started_at: string | null
  finished_at: string | null
}

export interface TaskEvent {
  id: number
  task_id: string
  seq: number
  type: string
  ts: string
  data: JsonObject
}

export type ApprovalStatus = 'pending' | 'auto_approved' | 'approved' | 'rejected' | 'expired'

export interface Approval {
  approval_id: string
  task_id: string
  project_id: string
  wedge: string
  task_type: string
  action: string
  risk: string
  preview: Json
  payload_sha256: string
  allowed_decisions: ('approve' | 'edit' | 'reject')[]
  status: ApprovalStatus
  path: 'action' | 'tool'
  /** Name and id of the connection; null or absent for a tool call of the agent. */
  connection?: string | null
  connection_id?: string | null
  /** Why a policy rule approved the action, or why a pending approval needs a person. */
  policy_reason: string | null
  edited: JsonObject | null
  reason: string | null
  note: string | null
  created_at: string
  expires_at: string | null
  decided_at: string | null
  decided_by: { kind: string; id: string } | null
}

/** An external action: one call that the service sent through a connection. */
export interface Effect {
  approval_id: string
  action: string
  connection: string
  payload_sha256: string
  outcome: 'sent' | 'ok' | 'failed' | 'unknown'
  status: number | null
  error: string | null
  created_at: string
  finished_at: string | null
}

export interface Span {
  span_id: string
  parent_id: string | null
  name: string
  kind: 'task' | 'step' | 'tool' | 'model' | 'approval'
  status: 'running' | 'ok' | 'failed'
  started_at: string
  ended_at: string | null
  duration_ms: number | null
  attributes: JsonObject
  children: Span[]
}

export interface Trace {
  task_id: string
  status: TaskStatus
  /** Null before the run starts and after its log is pruned. */
  root: Span | null
}

export interface PolicyRule {
  action: string
  max_amount_usd?: number
  max_per_task?: number
  max_per_day?: number
}

interface TaskType {
  description?: string
  harness?: { shape?: string; max_runtime_s?: number; max_cost_usd?: number; needs_connections?: boolean }
  output_schema?: JsonObject
}

export interface WedgeManifest {
  wedge: string
  title?: string
  task_types: Record<string, TaskType>
  connections?: string[]
  approvals?: { action: string; risk?: string; required?: boolean }[]
  policy?: { auto_approve?: PolicyRule[] }
  cases?: { stages: string[]; initial: string }
  workflows?: { name: string; description?: string; input_schema?: JsonObject; output_schema?: JsonObject }[]
}

export interface WedgeSummary {
  wedge: string
  title: string
  manifest: WedgeManifest
  enabled: boolean
  problems: string[]
}

export interface Project {
  id: string
  name: string
  slug: string
  tier: string
  wedges: string[] | null
}

/** From the least to the most powerful. */
export const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

export interface Session {
  member: { id: string; email: string; name: string | null; role: Role } | null
  key: { id: string; name: string; hint: string; project_id: string } | null
  organisation: { id: string; name: string }
  projects: Project[]
  role: Role
}

/** The server refuses shorter passwords. */
export const MIN_PASSWORD_CHARS = 10

export interface SignInResult {
  session_token: string
  expires_at: string
}

export interface Meta {
  version: string
  wedges: { wedge: string; title: string; task_types: string[] }[]
  problems: { wedge: string; problem: string }[]
  store: { kind: string }
  sandbox: { kind: string; isolation: JsonObject }
  model: { provider: string; name: string }
}

export interface Analytics {
  runs: number
  succeeded: number
  failed: number
  success_rate: number | null
  cost_usd: number
  median_approval_wait_s: number | null
  by_day: { day: string; runs: number; succeeded: number; cost_usd: number }[]
  by_wedge: { wedge: string; runs: number; success_rate: number; cost_usd: number }[]
  approvals: Record<'requested' | 'pending' | 'auto_approved' | 'approved' | 'rejected' | 'expired', number>
}
