import { endTask } from '../approvals/settle.ts'
import { isJsonObject, type Json } from '../base/json.ts'
import { type SchemaError, schemaErrors } from '../base/schema.ts'
import { silentEnd } from '../base/silent-end.ts'
import { appendReply } from '../clients/reply.ts'
import { type Ctx, inTxAtLast, type Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import type { NewEvent } from '../events/types.ts'
import type { Artifacts } from '../store/tables.ts'
import type { Ending } from '../tasks/end.ts'
import { insertArtifact, insertFile } from '../tasks/rows.ts'
import type { TaskError } from '../tasks/status.ts'
import type { NewArtifact } from './agent-lines.ts'
import { outputSchema } from './brief.ts'
import type { Outcome, RunEnd } from './converse.ts'
import { INTERRUPTED } from './leases.ts'
import type { Run } from './run.ts'

/** Lists show whole outputs, a page of them at a time. */
const MOST_OUTPUT = 1024 * 1024
const TOO_LARGE = 'is larger than 1 MiB: deliver it as a file'

/** Judges how a run ended and writes it down, once, fenced by the run's epoch, as soon as the store takes it. */
export async function conclude(ctx: Ctx, run: Run, outcome: Outcome): Promise<void> {
  const { told } = outcome
  // Whoever ended it from outside has written the end; but of a lease that ran out perhaps nobody knows.
  if (told.kind === 'ended') return run.endedBy === 'lost_lease' ? interrupt(ctx, run) : undefined
  if (told.kind === 'output') return concludeOutput(ctx, run, told.output, outcome)
  await fail(ctx, run, reasonOf(run, told), outcome.unwritten)
}

export async function fail(
  ctx: Ctx,
  run: Pick<Run, 'taskId' | 'epoch'>,
  error: TaskError,
  events: NewEvent[] = [],
): Promise<void> {
  await inTxAtLast(ctx, (tx) => endTask(tx, run.taskId, { status: 'failed', error, events }, run.epoch))
}

async function interrupt(ctx: Ctx, { taskId, epoch }: Run): Promise<void> {
  await inTxAtLast(ctx, (tx) => endTask(tx, taskId, INTERRUPTED, epoch))
}

function reasonOf(run: Run, told: Exclude<RunEnd, { kind: 'output' | 'ended' }>): TaskError {
  if (told.kind === 'timeout') {
    return { reason: 'runtime_exceeded', message: `the run took longer than ${run.constraints.max_runtime_s} s` }
  }
  if (told.kind === 'flooded') return { reason: 'agent_failed', message: 'the agent wrote too much' }
  const message =
    told.kind === 'crashed'
      ? silentEnd(told.exit.signal ?? `exit code ${told.exit.code}`, told.exit.stderr)
      : told.message
  // The service may know better than the agent why it failed.
  return run.failure ?? run.model.failure ?? { reason: 'agent_failed', message }
}

async function concludeOutput(ctx: Ctx, run: Run, output: Json, { artifacts, unwritten }: Outcome): Promise<void> {
  const size = Buffer.byteLength(JSON.stringify(output))
  const fault = faultOf(run, output, size)
  const validated: NewEvent = { type: 'output.validated', data: { ok: fault === null, errors: fault?.errors ?? [] } }
  if (fault) {
    const { message } = fault
    return fail(ctx, run, { reason: 'output_invalid', message }, [...unwritten, validated])
  }
  const left = leftBy(ctx, run, size, artifacts)
  const ending: Ending = {
    status: 'succeeded',
    output,
    events: [...unwritten, validated, ...left.map(artifactCreated)],
  }
  const ended = await inTxAtLast(ctx, (tx) => succeed(tx, run, ending, left), undefined, laneOf(run))
  if (!ended) await inTxAtLast(ctx, (tx) => endUnanswered(tx, run))
}

/** What is wrong with an output, and the sentence that says so; null when nothing is. */
function faultOf(run: Run, output: Json, size: number): { errors: SchemaError[]; message: string } | null {
  if (size > MOST_OUTPUT) return { errors: [{ path: '$', message: TOO_LARGE }], message: `the output ${TOO_LARGE}` }
  const schema = outputSchema(run)
  const errors = schema ? schemaErrors(schema, output) : []
  const [first] = errors
  return first ? { errors, message: `the output does not match its schema: ${first.path} ${first.message}` } : null
}

/** An end holds its own task and what belongs to that; with a reply it holds a thread too, which others wait for. */
function laneOf({ task, projectId }: Run): string | undefined {
  return task.thread_id ? undefined : `end:${projectId}`
}

/**
 * A task that waits for a person cannot succeed; without its agent it would wait for nothing. In no lane: the end of its
 * questions is in the audit, and who holds the head of a chain must wait for no other task.
 */
async function endUnanswered(tx: Tx, { taskId, epoch }: Run): Promise<void> {
  const message = 'the agent gave its output while it waited for an approval'
  await endTask(tx, taskId, { status: 'failed', error: { reason: 'agent_failed', message } }, epoch)
}

/** False when the task is over, or waits for a person. */
async function succeed(tx: Tx, run: Run, ending: Ending & { output: Json }, left: Left[]): Promise<boolean> {
  if (!(await endTask(tx, run.taskId, ending, run.epoch))) return false
  for (const { artifact, content } of left) {
    await insertArtifact(tx.db, artifact)
    if (content !== null) await insertFile(tx.db, { artifact_id: artifact.id, content })
  }
  const reply = isJsonObject(ending.output) ? ending.output.reply : undefined
  if (run.task.thread_id && typeof reply === 'string') await appendReply(tx, run.task, reply.replaceAll('\0', ''))
  return true
}

/** What a run leaves behind. */
interface Left {
  artifact: Artifacts
  /** Null for the output, which stands in the task. */
  content: string | null
}

function leftBy(ctx: Ctx, run: Run, outputSize: number, artifacts: NewArtifact[]): Left[] {
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

function artifactCreated({ artifact: { id: artifact_id, name, content_type, size } }: Left): NewEvent {
  return {
    type: 'artifact.created',
    data: { artifact_id, name, content_type, size, url: `/v1/artifacts/${artifact_id}` },
  }
}
