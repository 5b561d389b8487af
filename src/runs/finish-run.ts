import { endTask } from '../lifecycle/end-task.ts'
import { isJsonObject, type Json } from '../base/json.ts'
import { type SchemaError, schemaErrors } from '../contract/output-schema.ts'
import { exitMessage } from '../contract/exit-message.ts'
import { appendTaskReply } from '../channels/reply.ts'
import { type Ctx, inDurableTx, type Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import type { NewEvent } from '../events/event-types.ts'
import type { ArtifactRow } from '../store/tables.ts'
import type { TaskEnding } from '../lifecycle/task-ending.ts'
import { insertArtifact, insertArtifactFile } from '../tasks/rows.ts'
import type { TaskError } from '../tasks/status.ts'
import type { NewArtifact } from './parse-agent-line.ts'
import { outputSchemaOfRun } from './create-brief.ts'
import type { RunOutcome, RunEnd } from './agent-session.ts'
import { INTERRUPTED_ENDING } from './replica-lease.ts'
import type { TaskRun } from './task-run.ts'

/** Lists show whole outputs, a page of them at a time. */
const MAX_OUTPUT_BYTES = 1024 * 1024
const OUTPUT_TOO_LARGE = 'is larger than 1 MiB: deliver it as a file'

/** Judges how a run ended and writes it down, once, fenced by the run's epoch, as soon as the store takes it. */
export async function finishRun(ctx: Ctx, run: TaskRun, outcome: RunOutcome): Promise<void> {
  const { end: told } = outcome
  // Whoever ended it from outside has written the end; but of a lease that ran out perhaps nobody knows.
  if (told.kind === 'ended') return run.endedBy === 'lost_lease' ? interruptRun(ctx, run) : undefined
  if (told.kind === 'output') return finishWithOutput(ctx, run, told.output, outcome)
  await failRun(ctx, run, failureReason(run, told), outcome.unwrittenEvents)
}

export async function failRun(
  ctx: Ctx,
  run: Pick<TaskRun, 'taskId' | 'epoch'>,
  error: TaskError,
  events: NewEvent[] = [],
): Promise<void> {
  await inDurableTx(ctx, (tx) => endTask(tx, run.taskId, { status: 'failed', error, events }, run.epoch))
}

async function interruptRun(ctx: Ctx, { taskId, epoch }: TaskRun): Promise<void> {
  await inDurableTx(ctx, (tx) => endTask(tx, taskId, INTERRUPTED_ENDING, epoch))
}

function failureReason(run: TaskRun, told: Exclude<RunEnd, { kind: 'output' | 'ended' }>): TaskError {
  if (told.kind === 'timeout') {
    return { reason: 'runtime_exceeded', message: `the run took longer than ${run.constraints.max_runtime_s} s` }
  }
  if (told.kind === 'flooded') return { reason: 'agent_failed', message: 'the agent wrote too much' }
  const message =
    told.kind === 'crashed'
      ? exitMessage(told.exit.signal ?? `exit code ${told.exit.code}`, told.exit.stderr)
      : told.message
  // The service may know better than the agent why it failed.
  return run.failure ?? run.model.failure ?? { reason: 'agent_failed', message }
}

async function finishWithOutput(
  ctx: Ctx,
  run: TaskRun,
  output: Json,
  { artifacts, unwrittenEvents: unwritten }: RunOutcome,
): Promise<void> {
  const size = Buffer.byteLength(JSON.stringify(output))
  const fault = validateOutput(run, output, size)
  const validated: NewEvent = { type: 'output.validated', data: { ok: fault === null, errors: fault?.errors ?? [] } }
  if (fault) {
    const { message } = fault
    return failRun(ctx, run, { reason: 'output_invalid', message }, [...unwritten, validated])
  }
  const left = toStoredArtifacts(ctx, run, size, artifacts)
  const ending: TaskEnding = {
    status: 'succeeded',
    output,
    events: [...unwritten, validated, ...left.map(artifactCreated)],
  }
  const ended = await inDurableTx(ctx, (tx) => succeedTask(tx, run, ending, left), undefined, commitGroupOf(run))
  if (!ended) await inDurableTx(ctx, (tx) => failWhileAwaitingApproval(tx, run))
}

/** What is wrong with an output, and the sentence that says so; null when nothing is. */
function validateOutput(run: TaskRun, output: Json, size: number): { errors: SchemaError[]; message: string } | null {
  if (size > MAX_OUTPUT_BYTES)
    return { errors: [{ path: '$', message: OUTPUT_TOO_LARGE }], message: `the output ${OUTPUT_TOO_LARGE}` }
  const schema = outputSchemaOfRun(run)
  const errors = schema ? schemaErrors(schema, output) : []
  const [first] = errors
  return first ? { errors, message: `the output does not match its schema: ${first.path} ${first.message}` } : null
}

/** An end holds its own task and what belongs to that; with a reply it holds a thread too, which others wait for. */
function commitGroupOf({ task, projectId }: TaskRun): string | undefined {
  return task.thread_id ? undefined : `end:${projectId}`
}

/**
 * A task that waits for a person cannot succeed; without its agent it would wait for nothing. In no lane: the end of its
 * questions is in the audit, and who holds the head of a chain must wait for no other task.
 */
async function failWhileAwaitingApproval(tx: Tx, { taskId, epoch }: TaskRun): Promise<void> {
  const message = 'the agent gave its output while it waited for an approval'
  await endTask(tx, taskId, { status: 'failed', error: { reason: 'agent_failed', message } }, epoch)
}

/** False when the task is over, or waits for a person. */
async function succeedTask(
  tx: Tx,
  run: TaskRun,
  ending: TaskEnding & { output: Json },
  left: StoredArtifact[],
): Promise<boolean> {
  if (!(await endTask(tx, run.taskId, ending, run.epoch))) return false
  for (const { artifact, content } of left) {
    await insertArtifact(tx.db, artifact)
    if (content !== null) await insertArtifactFile(tx.db, { artifact_id: artifact.id, content })
  }
  const reply = isJsonObject(ending.output) ? ending.output.reply : undefined
  if (run.task.thread_id && typeof reply === 'string') await appendTaskReply(tx, run.task, reply.replaceAll('\0', ''))
  return true
}

/** What a run leaves behind. */
interface StoredArtifact {
  artifact: ArtifactRow
  /** Null for the output, which stands in the task. */
  content: string | null
}

function toStoredArtifacts(ctx: Ctx, run: TaskRun, outputSize: number, artifacts: NewArtifact[]): StoredArtifact[] {
  const own: Omit<NewArtifact, 'content'> & { content: null } = {
    name: 'output.json',
    content_type: 'application/json',
    size: outputSize,
    content: null,
  }
  const all = [own, ...artifacts]
  // Ids of one moment are in no order; sorted, they keep that of the files.
  const ids = all.map(() => ctx.world.newId('art')).toSorted()
  const created_at = isoNow(ctx)
  const { projectId: project_id, taskId: task_id } = run
  return all.map(({ name, content_type, size, content }, i) => ({
    artifact: { id: ids[i] ?? '', project_id, task_id, name, content_type, size, created_at },
    content,
  }))
}

function artifactCreated({ artifact: { id: artifact_id, name, content_type, size } }: StoredArtifact): NewEvent {
  return {
    type: 'artifact.created',
    data: { artifact_id, name, content_type, size, url: `/v1/artifacts/${artifact_id}` },
  }
}
