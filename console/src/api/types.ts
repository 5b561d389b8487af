import type { components, Json, JsonObject } from './openapi.ts'

/** The API types, limited to the fields that the console uses. */
export type { Json, JsonObject }
export type Schemas = components['schemas']

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

export type Artifact = Schemas['Artifact']

export type Task = Schemas['Task']

export interface TaskEvent {
  id: number
  task_id: string
  seq: number
  type: string
  ts: string
  data: JsonObject
}

export type ApprovalStatus = 'pending' | 'auto_approved' | 'approved' | 'rejected' | 'expired'

export type Approval = Schemas['Approval']
/** One approval with everything that a person needs to decide. */
export type ApprovalDetail = Schemas['ApprovalDetail']
export type ApprovalComment = Schemas['ApprovalComment']
export type DecisionResult = Schemas['ApproveResult']
export type ActionAmount = Schemas['ActionAmount']

/** An external action: one call that the service sent through a connection. */
export type Effect = Schemas['Action']

export type Span = Schemas['Span']

export type Trace = Schemas['Trace']

export interface PolicyRule {
  action: string
  max_amount_usd?: number
  max_per_task?: number
  max_per_day?: number
}

interface TaskType {
  description?: string
  harness?: { shape?: string; max_runtime_s?: number; max_cost_usd?: number; needs_connections?: boolean }
  input_schema?: JsonObject
  output_schema?: JsonObject
}

export interface WedgeManifest {
  wedge: string
  title?: string
  task_types: Record<string, TaskType>
  connections?: (string | { name: string; tools: string[] })[]
  approvals?: { action: string; risk?: string; required?: boolean; is_reply?: boolean; ttl_s?: number }[]
  cases?: { stages: string[]; initial: string }
  workflows?: { name: string; description?: string; input_schema?: JsonObject; output_schema?: JsonObject }[]
}

export interface WedgeSummary {
  wedge: string
  title: string
  manifest: WedgeManifest
  enabled: boolean
  problems: WedgeProblem[]
}

export type WedgeProblem = Schemas['WedgeSummary']['problems'][number]

/** A wedge that cannot be used, because its manifest is not valid. */
export type BrokenWedge = Omit<WedgeSummary, 'manifest'> & { manifest: Record<string, never> }

export type Project = Schemas['Project']

/** From the least to the most powerful. */
export const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

export type Session = Schemas['Session']

export type SignupState = Schemas['SignupState']

/** The server refuses shorter passwords. */
export const MIN_PASSWORD_CHARS = 10

export type SignInResult = Schemas['SignInResult']

export type Meta = Schemas['Meta']

export type Analytics = Schemas['Analytics']
