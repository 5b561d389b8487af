import { countStoredBytes, runStorageSentence } from '../../../identity/limits/storage-usage.ts'
import type { Config } from '../../../platform/config/config.ts'
import { endTask } from '../../../approvals/lifecycle/end-task.ts'
import { isJsonObject, type Json } from '../../../platform/base/json.ts'
import { problemOrThrow } from '../../../platform/base/problem.ts'
import { type SchemaError, schemaErrors } from '../../../platform/contract/output-schema.ts'
import type { TranscriptEntry } from '../../../platform/contract/transcript.ts'
import { exitMessage } from '../../../platform/contract/exit-message.ts'
import { appendTaskReply } from '../../../customers/threads/reply.ts'
import { type Ctx, inDurableTx, type Tx } from '../../../platform/ctx/ctx.ts'
import { isoNow } from '../../../platform/ctx/world.ts'
import {
  artifactStorage,
  discardArtifactObject,
  keepArtifactObject,
  storeArtifactObject,
} from '../../../work/files/artifact-objects.ts'
import type { NewEvent } from '../../../work/events/event-types.ts'
import type { ArtifactRow } from '../../../platform/store/tables.ts'
import type { TaskEnding } from '../../../approvals/lifecycle/task-ending.ts'
import { insertArtifact, insertArtifactFile } from '../../../work/tasks/rows.ts'
import type { TaskError } from '../../../work/tasks/status.ts'
import type { NewArtifact } from './parse-agent-line.ts'
import { outputSchemaOfRun } from './create-brief.ts'
import type { RunOutcome } from './agent-session.ts'
import type { RunEnd } from './run-ending.ts'
import type { RunFacts } from './run-facts.ts'
import type { UnwrittenLog } from './run-log.ts'
import { saveLastEntries } from '../resume/run-state.ts'
import { releaseOrEndTasks } from '../replicas/dead-replicas.ts'
import type { TaskRun } from './task-run.ts'

/** Limited because a page of tasks contains whole outputs. */
const MAX_OUTPUT_BYTES = 1024 * 1024
const OUTPUT_TOO_LARGE = 'is larger than 1 MiB: deliver it as a file'

/** What the end of a task needs of its run. */
type FinishedParts = Pick<TaskRun, 'facts' | 'stored'>

/** Ends the task of a run once, with the epoch of the run. Waits while the database is unavailable. */
export async function finishRun(ctx: Ctx, run: TaskRun, outcome: RunOutcome): Promise<void> {
  const { end } = outcome
  // Whatever ended the run has stored the end of the task, except when the lease of this replica expired.
  if (end.kind === 'ended') return run.ending.reason === 'lost_lease' ? interruptRun(ctx, run.facts) : undefined
  if (end.kind === 'output') return finishWithOutput(ctx, run, end.output, outcome)
  await failStoredRun(ctx, run, failureReason(ctx.config, run, end), outcome.unwritten)
}

/** Fails a run that has written nothing yet. */
export async function failRun(
  ctx: Ctx,
  { taskId, epoch }: Pick<RunFacts, 'taskId' | 'epoch'>,
  error: TaskError,
): Promise<void> {
  await inDurableTx(ctx, (tx) => endTask(tx, taskId, { status: 'failed', error, events: [] }, epoch))
}

async function failStoredRun(
  ctx: Ctx,
  run: FinishedParts,
  error: TaskError,
  { events, entries }: UnwrittenLog,
): Promise<void> {
  const { taskId, epoch } = run.facts
  await inDurableTx(ctx, async (tx) => {
    const ended = await endTask(tx, taskId, { status: 'failed', error, events }, epoch)
    if (ended && entries.length > 0) await saveLastEntries(tx, run, entries)
  })
}

async function interruptRun(ctx: Ctx, { taskId: id, projectId: project_id, epoch }: RunFacts): Promise<void> {
  await inDurableTx(ctx, (tx) => releaseOrEndTasks(tx, [{ id, project_id, epoch }]))
}

function failureReason(
  config: Config,
  { facts, ending, model }: Pick<TaskRun, 'facts' | 'ending' | 'model'>,
  end: Exclude<RunEnd, { kind: 'output' | 'ended' }>,
): TaskError {
  if (end.kind === 'timeout') {
    return { reason: 'runtime_exceeded', message: `the run took longer than ${facts.constraints.max_runtime_s} s` }
  }
  if (end.kind === 'storage_full') return { reason: 'agent_failed', message: runStorageSentence(config) }
  if (end.kind === 'flooded') return { reason: 'agent_failed', message: 'the agent wrote too much' }
  const message =
    end.kind === 'crashed' ? exitMessage(end.exit.signal ?? `exit code ${end.exit.code}`, end.exit.stderr) : end.message
  // The service may know the cause of the failure better than the agent.
  return ending.failure ?? model.failure ?? { reason: 'agent_failed', message }
}

async function finishWithOutput(
  ctx: Ctx,
  run: FinishedParts,
  output: Json,
  { artifacts, unwritten }: RunOutcome,
): Promise<void> {
  const size = Buffer.byteLength(JSON.stringify(output))
  const problem = validateOutput(run, output, size)
  const validated: NewEvent = {
    type: 'output.validated',
    data: { ok: problem === null, errors: problem?.errors ?? [] },
  }
  if (problem) {
    const { message } = problem
    const error: TaskError = { reason: 'output_invalid', message }
    return failStoredRun(ctx, run, error, { ...unwritten, events: [...unwritten.events, validated] })
  }
  const stored = toStoredArtifacts(ctx, run.facts, size, artifacts)
  if (!(await storeObjects(ctx, stored))) {
    const error: TaskError = { reason: 'sandbox_failed', message: 'the files of the run could not be stored' }
    return failStoredRun(ctx, run, error, { ...unwritten, events: [...unwritten.events, validated] })
  }
  const ending: TaskEnding = {
    status: 'succeeded',
    output,
    events: [...unwritten.events, validated, ...stored.map(artifactCreated)],
  }
  const ended = await inDurableTx(
    ctx,
    (tx) => succeedTask(tx, run, ending, stored, unwritten.entries),
    undefined,
    commitGroupOf(run.facts),
  )
  if (ended) return
  await discardObjects(ctx, stored)
  await inDurableTx(ctx, (tx) => failWhileAwaitingApproval(tx, run.facts))
}

/** With an object store, the files go there before the task ends. False if it failed. */
async function storeObjects(ctx: Ctx, stored: StoredArtifact[]): Promise<boolean> {
  try {
    for (const { artifact, content } of stored)
      if (artifact.storage === 's3') await storeArtifactObject(ctx, artifact, Buffer.from(content ?? '', 'base64'))
    return true
  } catch (error) {
    // Other errors are faults of the service.
    problemOrThrow(error)
    await discardObjects(ctx, stored)
    return false
  }
}

async function discardObjects(ctx: Ctx, stored: StoredArtifact[]): Promise<void> {
  for (const { artifact } of stored) if (artifact.storage === 's3') await discardArtifactObject(ctx, artifact)
}

export const isValidOutput = (run: FinishedParts, output: Json): boolean =>
  validateOutput(run, output, Buffer.byteLength(JSON.stringify(output))) === null

/** The errors of an output and a message about them; null if the output is valid. */
function validateOutput(
  run: FinishedParts,
  output: Json,
  size: number,
): { errors: SchemaError[]; message: string } | null {
  if (size > MAX_OUTPUT_BYTES)
    return { errors: [{ path: '$', message: OUTPUT_TOO_LARGE }], message: `the output ${OUTPUT_TOO_LARGE}` }
  const schema = outputSchemaOfRun(run)
  const errors = schema ? schemaErrors(schema, output) : []
  const [first] = errors
  return first ? { errors, message: `the output does not match its schema: ${first.path} ${first.message}` } : null
}

/** Ends of tasks are committed in groups, except with a reply: that locks a thread for which other tasks wait. */
function commitGroupOf({ task, projectId }: RunFacts): string | undefined {
  return task.thread_id ? undefined : `end:${projectId}`
}

/**
 * Fails a task whose agent gave its output while an approval was pending. Not in a group commit: expiring the approval
 * locks the head of the audit chain, and a transaction that holds it must not wait for other tasks.
 */
async function failWhileAwaitingApproval(tx: Tx, { taskId, epoch }: RunFacts): Promise<void> {
  const message = 'the agent gave its output while it waited for an approval'
  await endTask(tx, taskId, { status: 'failed', error: { reason: 'agent_failed', message } }, epoch)
}

/** False if the task has ended or waits for an approval. */
async function succeedTask(
  tx: Tx,
  run: FinishedParts,
  ending: TaskEnding & { output: Json },
  stored: StoredArtifact[],
  entries: TranscriptEntry[],
): Promise<boolean> {
  const { task, taskId, projectId, epoch } = run.facts
  if (!(await endTask(tx, taskId, ending, epoch))) return false
  await saveLastEntries(tx, run, entries)
  for (const { artifact, content } of stored) {
    await insertArtifact(tx.db, artifact)
    if (content === null) continue
    const isObject = artifact.storage === 's3'
    if (isObject) await keepArtifactObject(tx, artifact)
    else await insertArtifactFile(tx.db, { artifact_id: artifact.id, content })
    countStoredBytes(tx, projectId, isObject ? artifact.size : content.length)
  }
  const reply = isJsonObject(ending.output) ? ending.output.reply : undefined
  if (task.thread_id && typeof reply === 'string') await appendTaskReply(tx, task, reply.replaceAll('\0', ''))
  return true
}

/** An artifact row and its file. */
interface StoredArtifact {
  artifact: ArtifactRow
  /** Null for the output, which is stored in the task. */
  content: string | null
}

function toStoredArtifacts(
  ctx: Ctx,
  { projectId: project_id, taskId: task_id }: RunFacts,
  outputSize: number,
  artifacts: NewArtifact[],
): StoredArtifact[] {
  const own: Omit<NewArtifact, 'content'> & { content: null } = {
    name: 'output.json',
    content_type: 'application/json',
    size: outputSize,
    content: null,
  }
  const all = [own, ...artifacts]
  // Ids of the same millisecond have no order, so they are sorted to keep the order of the files.
  const ids = all.map(() => ctx.world.newId('art')).toSorted()
  const created_at = isoNow(ctx)
  return all.map(({ name, content_type, size, content }, i) => ({
    artifact: {
      id: ids[i] ?? '',
      project_id,
      task_id,
      name,
      content_type,
      size,
      storage: content === null ? 'database' : artifactStorage(ctx),
      created_at,
    },
    content,
  }))
}

function artifactCreated({ artifact: { id: artifact_id, name, content_type, size } }: StoredArtifact): NewEvent {
  return {
    type: 'artifact.created',
    data: { artifact_id, name, content_type, size, url: `/v1/artifacts/${artifact_id}` },
  }
}
