import { z } from 'zod'
import type { Json, JsonObject } from '../../platform/base/json.ts'
import { FileView, toFileView } from '../files/view.ts'
import { jsonObject, jsonValue } from '../../platform/http/validate.ts'
import type { ArtifactRow, FileRow, TaskRow } from '../../platform/store/tables.ts'
import type { TaskConstraints } from './constraints.ts'
import type { QueueWait } from './queue-reason.ts'
import { TASK_STATUSES, type TaskError, type TaskStatus } from './status.ts'

const ArtifactSummaryView = z
  .object({
    id: z.string(),
    name: z.string(),
    content_type: z.string(),
    size: z.number(),
  })
  .meta({ id: 'Artifact' })

const WaitingForView = z
  .object({
    kind: z.enum(['thread', 'capacity', 'runner']),
    id: z.string().optional().meta({ description: 'The thread that the task waits for.' }),
  })
  .meta({
    id: 'WaitingFor',
    description:
      'What a queued task waits for, if it is not a free slot. `thread`: the end of an earlier task of its conversation; `capacity`: a decision, because too many runs of the project wait for one; `runner`: a replica that takes the task.',
  })

export const TaskView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    wedge: z.string(),
    task_type: z.string(),
    status: z.enum(TASK_STATUSES),
    queue_reason: z.string().nullable().meta({ description: 'Why a queued task waits, if it is not for a free slot.' }),
    waiting_for: WaitingForView.nullable(),
    input: jsonValue,
    actor: jsonValue,
    constraints: z.object({ max_runtime_s: z.number(), max_cost_usd: z.number(), approval_required: z.boolean() }),
    tools: z.array(z.string()),
    output_schema: jsonObject.nullable(),
    output: jsonValue,
    error: z.object({ reason: z.string(), message: z.string() }).nullable(),
    cost_usd: z.number(),
    artifacts: z.array(ArtifactSummaryView),
    files: z.array(FileView).meta({ description: 'The files that the task was given.' }),
    client_id: z.string().nullable(),
    thread_id: z.string().nullable(),
    channel_id: z.string().nullable(),
    case_id: z.string().nullable(),
    schedule_id: z.string().nullable(),
    retry_of: z.string().nullable(),
    last_event_id: z.number().int(),
    created_at: z.string(),
    started_at: z.string().nullable(),
    finished_at: z.string().nullable(),
    log_pruned_at: z.string().nullable().meta({ description: 'When retention removed its events and files.' }),
  })
  .meta({ id: 'Task' })

export type TaskView = z.infer<typeof TaskView>

export const TaskFeedbackView = z
  .object({ ok: z.boolean(), knowledge_id: z.string().nullable() })
  .meta({ id: 'TaskFeedback' })

export type ArtifactHead = Pick<ArtifactRow, 'id' | 'task_id' | 'name' | 'content_type' | 'size'>

// The JSON columns of a task are parsed one by one, where they are needed.
export const parseTaskInput = (row: Pick<TaskRow, 'input'>) => JSON.parse(row.input) as Json
export const parseTaskConstraints = (row: Pick<TaskRow, 'constraints'>) =>
  JSON.parse(row.constraints) as TaskConstraints
export const parseTaskTools = (row: Pick<TaskRow, 'tools'>) => JSON.parse(row.tools) as string[]
export const parseTaskOutputSchema = (row: Pick<TaskRow, 'output_schema'>) =>
  row.output_schema === null ? null : (JSON.parse(row.output_schema) as JsonObject)

export function toTaskView(
  row: TaskRow,
  artifacts: readonly ArtifactHead[],
  wait: QueueWait | null = null,
  files: readonly FileRow[] = [],
): TaskView {
  return {
    id: row.id,
    project_id: row.project_id,
    wedge: row.wedge,
    task_type: row.task_type,
    status: row.status as TaskStatus,
    queue_reason: wait?.queue_reason ?? null,
    waiting_for: wait?.waiting_for ?? null,
    input: parseTaskInput(row),
    actor: JSON.parse(row.actor) as Json,
    constraints: parseTaskConstraints(row),
    tools: parseTaskTools(row),
    output_schema: parseTaskOutputSchema(row),
    output: row.output === null ? null : (JSON.parse(row.output) as Json),
    error: row.error === null ? null : (JSON.parse(row.error) as TaskError),
    cost_usd: row.cost_micros / 1e6,
    artifacts: artifacts.map(({ id, name, content_type, size }) => ({ id, name, content_type, size })),
    files: files.map(toFileView),
    client_id: row.client_id,
    thread_id: row.thread_id,
    channel_id: row.channel_id,
    case_id: row.case_id,
    schedule_id: row.schedule_id,
    retry_of: row.retry_of,
    last_event_id: row.last_event_id,
    created_at: row.created_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
    log_pruned_at: row.log_pruned_at,
  }
}
