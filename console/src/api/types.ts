import type * as Schemas from './openapi.ts'

export type { Schemas }
/** Code checks such a value before it uses it. */
export type Json = unknown
export type JsonObject = { [key: string]: Json }

export type TaskStatus = Task['status']

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
] as const satisfies TaskStatus[]

export type Artifact = Schemas.Artifact

export type Task = Schemas.Task

export type TaskEvent = Schemas.Event

export type ApprovalStatus = Approval['status']

export type Approval = Schemas.Approval
/** One approval with everything that a person needs to decide. */
export type ApprovalDetail = Schemas.ApprovalDetail
export type DecisionResult = Schemas.ApproveResult
export type ActionAmount = Schemas.ActionAmount

/** An external action: one call that the service sent through a connection. */
export type Effect = Schemas.Action

export type Span = Schemas.Span

export type Trace = Schemas.Trace

export type PolicyRule = Schemas.PolicyRule

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

export type WedgeSummary = Schemas.WedgeSummary & { manifest: WedgeManifest }

export type WedgeProblem = Schemas.WedgeSummary['problems'][number]

export type Project = Schemas.Project

/** From the least to the most powerful. */
export const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const satisfies Role[]
export type Role = Schemas.Member['role']

export type Session = Schemas.Session

/** The server refuses shorter passwords. */
export const MIN_PASSWORD_CHARS = 10

export type Analytics = Schemas.Analytics
