import type { Json, JsonObject } from '../base/json.ts'

/** The thirteen event types and what each carries. Additive: clients ignore what they do not know. */
export interface EventData {
  'task.created': { wedge: string; task_type: string; status: 'running'; sandbox: string; model: string }
  'step.started': { step: Json; label: Json }
  'tool.called': { call_id: string; tool: string; input: Json; truncated?: true }
  'tool.result': { call_id: string; tool: string; ok: boolean; output?: Json; error?: Json; truncated?: true }
  progress: { text: string }
  'token.delta': { text: string }
  'approval.requested': {
    approval_id: string
    action: string
    risk: string
    /** Through which it would go; only where one is used. */
    connection?: string
    preview: Json
    expires_at: string
  }
  'approval.resolved': {
    approval_id: string
    action: string
    decision: 'approved' | 'rejected' | 'auto_approved'
    policy_reason?: string
    decided_by?: JsonObject
    edited?: boolean
  }
  'output.validated': { ok: boolean; errors: { path: string; message: string }[] }
  'artifact.created': { artifact_id: string; name: string; content_type: string; size: number; url: string }
  'cost.charged': {
    model: string
    input_tokens: number
    output_tokens: number
    cost_usd: number
    total_usd: number
    unpriced?: boolean
  }
  'feedback.recorded': { source: 'approval' | 'task'; knowledge_id: string | null; rating?: Json; note?: string }
  'task.finished': { status: string; error?: { reason: string; message: string }; duration_ms: number }
}

export type EventType = keyof EventData

export type NewEvent = { [Type in EventType]: { type: Type; data: EventData[Type] } }[EventType]
