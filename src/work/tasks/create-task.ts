import { z } from 'zod'
import { lockRateLimit } from '../../identity/limits/minute-limit.ts'
import { refuseIfStorageFull } from '../../identity/limits/storage-usage.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import type { Json } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { TraceHeaders } from '../../platform/base/trace-context.ts'
import { schemaErrors } from '../../platform/contract/output-schema.ts'
import type { TaskType } from '../../platform/contract/wedge/wedge-manifest.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor, ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishProjectChange } from '../events/project-changes.ts'
import { insertTaskFiles } from '../files/rows.ts'
import { fileIds, requireUsableFiles } from '../files/usable-files.ts'
import { jsonObject, jsonValue } from '../../platform/http/validate.ts'
import type { QueuedTask, TaskRow } from '../../platform/store/tables.ts'
import { requireWedgeAndTier } from '../../wedges/library/enabled-wedges.ts'
import { requireTaskType } from '../../wedges/library/task-type.ts'
import { clampConstraints } from './constraints.ts'
import { bindIdempotencyKey, type IdempotencyKey, taskIdOfIdempotencyKey } from './idempotency.ts'
import { lockExistingClient, requireClientExists } from './require-client.ts'
import { findTaskUnscoped, insertTask } from './rows.ts'
import { checkToolNames } from './tools.ts'

export const TaskConstraintsInput = z.object({
  max_runtime_s: z.number().positive().optional(),
  max_cost_usd: z.number().positive().optional(),
  approval_required: z.boolean().optional(),
})

export const TaskRequest = z.object({
  wedge: z.string().min(1),
  task_type: z.string().min(1),
  input: jsonValue.optional(),
  actor: jsonValue.optional(),
  constraints: TaskConstraintsInput.optional(),
  tools: z.array(z.string()).optional(),
  output_schema: jsonObject.nullish(),
  files: fileIds.optional(),
})

export type TaskRequest = z.infer<typeof TaskRequest>

/** The request of a task that belongs to no case, schedule or thread. */
export type NewTaskRequest = TaskRequest & {
  client_id?: string | null | undefined
}

/** What a task belongs to, if it was not created through `POST /v1/tasks`. */
export interface TaskOrigin {
  client_id?: string | null
  thread_id?: string | null
  channel_id?: string | null
  case_id?: string | null
  schedule_id?: string | null
  retry_of?: string | null
  /** The trace of the request. */
  trace?: TraceHeaders | null
}

/** Creates a task for `POST /v1/tasks`: within the rate limit, and once per idempotency key. */
export async function createTask(
  ctx: Ctx,
  scope: ProjectScope,
  request: NewTaskRequest,
  key: IdempotencyKey | null,
  trace: TraceHeaders | null,
): Promise<{ task: TaskRow; replayed: boolean }> {
  const plan = await planNewTask(ctx, scope, request, trace).catch((error) => replayOrThrow(error, ctx, scope, key))
  if ('replayed' in plan) return plan
  const create = async (tx: Tx) => {
    // The client may be erased at the same moment, which locks it first too.
    if (plan.client_id !== null) await lockExistingClient(tx, scope.projectId, plan.client_id)
    // Before the key: otherwise a commit of another replica could hold the counter and wait for this key.
    const turn = await lockRateLimit(tx, scope.projectId, ctx.config.taskRatePerMin, 'tasks')
    // Nothing is written before a refusal, because that would undo the other creations of the commit.
    if (turn.refusal) return replayOrThrow(turn.refusal, tx, scope, key)
    const bound = key ? await bindIdempotencyKey(tx, scope.projectId, key, plan.id) : plan.id
    if (bound !== plan.id) return { task: await requireBoundTask(tx, bound), replayed: true }
    turn.take()
    await queueTask(tx, plan, scope.actor, { files: request.files })
    return { task: plan, replayed: false }
  }
  // All creations of a project wait for its rate counter and its audit chain, so they share commits. One that waits for a
  // client has its own: the others of its commit would hold both meanwhile, and the holder of the client may need them.
  return inTx(ctx, create, plan.client_id === null ? `create:${scope.projectId}` : undefined)
}

async function planNewTask(ctx: Ctx, scope: ProjectScope, request: NewTaskRequest, trace: TraceHeaders | null) {
  const { client_id = null } = request
  if (client_id !== null) await requireClientExists(ctx, scope.projectId, client_id)
  return planTask(ctx, scope, request, { client_id, trace })
}

/**
 * A repeated request gets its task even if the wedge was disabled or removed since. The key is looked up only after the
 * request was refused, so that other creations do not pay for the lookup.
 */
async function replayOrThrow(error: unknown, ctx: Ctx, { projectId }: ProjectScope, key: IdempotencyKey | null) {
  const bound = key && (await taskIdOfIdempotencyKey(ctx, projectId, key))
  if (!bound) throw error
  return { task: await requireBoundTask(ctx, bound), replayed: true }
}

/**
 * Validates a request and returns the row to insert. 400 for an unknown wedge, type, tool or file, for the file of
 * another client, and for an input that does not match the schema of the task type; 403 for a disabled wedge; 429 if the
 * storage is full.
 */
export async function planTask(
  ctx: Ctx,
  scope: Pick<ProjectScope, 'projectId' | 'allowance'>,
  request: TaskRequest,
  origin: TaskOrigin = {},
): Promise<QueuedTask> {
  refuseIfStorageFull(ctx, scope.projectId)
  const { wedge, tier } = await requireWedgeAndTier(ctx, scope, request.wedge)
  const taskType = requireTaskType(wedge, request.task_type)
  checkToolNames(request.tools ?? [])
  const { projectId } = scope
  await requireUsableFiles(ctx.db, { projectId, clientId: origin.client_id ?? null }, request.files ?? [])
  // The input of a message is filled in when the message is stored, in the format of the service.
  if (!origin.channel_id) requireValidInput(taskType, request.input ?? null)
  return {
    id: ctx.world.newId('task'),
    project_id: scope.projectId,
    wedge: wedge.slug,
    task_type: request.task_type,
    status: 'queued',
    input: JSON.stringify(request.input ?? null),
    actor: JSON.stringify(request.actor ?? null),
    constraints: JSON.stringify(clampConstraints(ctx.config, taskType, request.constraints ?? {})),
    tools: JSON.stringify(request.tools ?? []),
    output_schema: request.output_schema ? JSON.stringify(request.output_schema) : null,
    output: null,
    error: null,
    cost_micros: 0,
    client_id: origin.client_id ?? null,
    thread_id: origin.thread_id ?? null,
    channel_id: origin.channel_id ?? null,
    case_id: origin.case_id ?? null,
    schedule_id: origin.schedule_id ?? null,
    retry_of: origin.retry_of ?? null,
    requested_by_kind: null,
    requested_by_id: null,
    last_event_id: 0,
    counted_events: 0,
    epoch: 0,
    replica: null,
    ready_at: null,
    created_at: isoNow(ctx),
    started_at: null,
    finished_at: null,
    log_pruned_at: null,
    traceparent: origin.trace?.traceparent ?? null,
    tracestate: origin.trace?.tracestate ?? null,
    tier,
  }
}

/** 400 for an input that does not match the schema of the task type, if it has one. */
export function requireValidInput({ input_schema }: TaskType, input: Json): void {
  const [first] = input_schema ? schemaErrors(input_schema, input) : []
  if (first) throw badRequest(`input${first.path.slice(1)} ${first.message}`)
}

/**
 * Inserts a planned task, with its files and its audit entry. If this replica can start the task at once, the task starts in the same
 * transaction; otherwise the commit wakes the runners of all replicas. A thread has one run at a time, so a task with a
 * thread may start at once only if the caller has locked the thread and knows that it has no other task.
 */
export async function queueTask(
  tx: Tx,
  planned: QueuedTask,
  actor: Actor,
  {
    mayStart = planned.thread_id === null,
    files = [],
  }: { mayStart?: boolean; files?: readonly string[] | undefined } = {},
): Promise<void> {
  const plan = { ...planned, requested_by_kind: actor.kind, requested_by_id: actor.id }
  const started = mayStart ? tx.taskStarter.tryStart(tx, plan) : null
  await insertTask(tx.db, started?.task ?? plan)
  await insertTaskFiles(tx.db, plan.id, files)
  // Followers see `queued` first, as in the response, and then `running`.
  publishProjectChange(tx, plan.project_id, { kind: 'task', id: plan.id, status: plan.status })
  if (started) await started.appendFirstEvent()
  else tx.publishAfterCommit({ topic: 'task-queued' })
  await appendAuditEntry(tx, plan.project_id, actor, 'task.created', plan.id, {
    wedge: plan.wedge,
    task_type: plan.task_type,
  })
}

async function requireBoundTask({ db }: Pick<Ctx, 'db'>, id: string): Promise<TaskRow> {
  const task = await findTaskUnscoped(db, id)
  if (!task) throw new Error(`the idempotency key is bound to task ${id}, which does not exist`)
  return task
}
