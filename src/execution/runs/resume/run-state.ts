import { findApprovalUnscoped } from '../../../approvals/requests/rows.ts'
import type { GatedRequest, OpenRequest } from '../../../approvals/policy/gated-request.ts'
import type { Json } from '../../../platform/base/json.ts'
import type { LoggedStep } from '../../../platform/contract/agent-protocol.ts'
import type { TranscriptEntry } from '../../../platform/contract/transcript.ts'
import type { Tx } from '../../../platform/ctx/ctx.ts'
import { listLastStepEvents } from '../../../work/events/rows.ts'
import { deleteRunState, findRunState, upsertRunState } from '../../../approvals/lifecycle/run-state-rows.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { ApprovalRow, RunStateRow } from '../../../platform/store/tables.ts'
import { appendTranscript, readTranscript } from '../../../approvals/lifecycle/transcript-rows.ts'
import { runtimeLeftMs } from '../session/run-usage.ts'
import type { TaskRun } from '../session/task-run.ts'

/** What the database has of a run that an earlier process began. */
export interface EarlierRun {
  state: RunStateRow
  entries: TranscriptEntry[]
  nextSeq: number
  logged: LoggedStep
  requests: OpenRequest[]
  /** The approvals of the requests. */
  approvals: ApprovalRow[]
}

/** Null if there is no state: then the run cannot continue. */
export async function readEarlierRun(db: Db, taskId: string): Promise<EarlierRun | null> {
  const [state] = await findRunState(db, { task_id: taskId })
  if (!state) return null
  const { entries, nextSeq } = await readTranscript(db, taskId)
  const requests: OpenRequest[] = JSON.parse(state.requests)
  const found = await Promise.all(requests.map(({ approval_id: id }) => findApprovalUnscoped(db, { id })))
  return {
    state,
    entries,
    nextSeq,
    logged: await readLoggedStep(db, taskId),
    requests,
    approvals: found.flat(),
  }
}

/** The process may have died between an event and its entry in the transcript, so the next one must not repeat the event. */
async function readLoggedStep(db: Db, taskId: string): Promise<LoggedStep> {
  const events = (await listLastStepEvents(db, { task_id: taskId })).map(({ type, data }) => ({
    type,
    data: JSON.parse(data),
  }))
  const start = events.findIndex(({ type }) => type === 'step.started')
  const inStep = start < 0 ? events : events.slice(0, start)
  const callIds = (wanted: string) => inStep.flatMap(({ type, data }) => (type === wanted ? [data.call_id] : []))
  return { step: events[start]?.data.step ?? 0, called: callIds('tool.called'), returned: callIds('tool.result') }
}

/** What is stored so that another process can continue a run. */
export type ResumableParts = Pick<TaskRun, 'facts' | 'stored' | 'usage' | 'workingTime' | 'model'>

/**
 * Stores entries of the transcript, or the new checkpoint of a custom agent. The result of a tool answers all requests so
 * far, so a run that is not resumable has nothing left to continue with.
 */
export async function saveEntries(tx: Tx, run: ResumableParts, entries: TranscriptEntry[]): Promise<void> {
  const { facts, stored } = run
  if (stored.isTranscriptTooLong) return forgetRunState(tx, run)
  if (entries.length > 0) {
    await appendTranscript(tx.db, facts.taskId, stored.nextSeq, entries)
    tx.afterCommit(() => void stored.nextSeq++)
  }
  if (entries.some(({ by }) => by === 'tool')) stored.requests = []
  return facts.isResumable || stored.hasOpenRequest() ? saveRunState(tx, run) : forgetRunState(tx, run)
}

/** Removes the state of a run that has nothing to continue with, or can no longer continue. */
async function forgetRunState(tx: Tx, { facts, stored }: Pick<TaskRun, 'facts' | 'stored'>): Promise<void> {
  if (stored.mayHaveState) await deleteRunState(tx.db, { task_id: facts.taskId })
}

/**
 * Records that the answer to a request was sent to the agent. A run that is not resumable may act on it at once, so its
 * state is stored again, or removed if no other request is open.
 */
export function recordAnswer({ stored, log }: Pick<TaskRun, 'stored' | 'log'>, approvalId: string): void {
  stored.markAnswered(approvalId, Date.now())
  if (stored.mayHaveState) log.markChanged()
}

/** Keeps a checkpoint of a custom agent, and stores it if another process may need it. */
export function keepCheckpoint(
  { facts, stored, log }: Pick<TaskRun, 'facts' | 'stored' | 'log'>,
  checkpoint: Json,
): void {
  stored.keepCheckpoint(checkpoint, Date.now())
  if (facts.isResumable || stored.mayHaveState || stored.requests.length > 0) log.markChanged()
}

/** Stores the rest of the transcript of a run that ends. Nothing needs its state any more. */
export async function saveLastEntries(
  tx: Tx,
  run: Pick<TaskRun, 'facts' | 'stored'>,
  entries: TranscriptEntry[],
): Promise<void> {
  const { facts, stored } = run
  if (entries.length > 0 && !stored.isTranscriptTooLong)
    await appendTranscript(tx.db, facts.taskId, stored.nextSeq, entries)
  await forgetRunState(tx, run)
}

/** Stores what another process needs to continue the run. */
export async function saveRunState(tx: Tx, run: ResumableParts): Promise<void> {
  const { facts, stored, usage, model, workingTime } = run
  if (!stored.canContinueElsewhere(facts.cellKind)) return
  stored.mayHaveState = true
  await upsertRunState(tx.db, {
    task_id: facts.taskId,
    is_resumable: facts.isResumable ? 1 : 0,
    brief: JSON.stringify(stored.brief),
    checkpoint: stored.checkpoint === null ? null : JSON.stringify(stored.checkpoint),
    requests: JSON.stringify(stored.requests),
    spent_micros: model.spentMicros,
    read_count: usage.readCount,
    gap_count: usage.gapCount,
    stored_bytes: usage.storedBytes,
    worked_ms: Math.round(usage.workedMs + workingTime.elapsedMs(runtimeLeftMs(run))),
    resumes: 0,
  })
}

/** Stores a request, so that a process that continues the run neither asks nor acts again. */
export async function saveRequest(
  tx: Tx,
  run: ResumableParts & Pick<TaskRun, 'parking'>,
  { id, status }: Pick<ApprovalRow, 'id' | 'status'>,
  { key }: Pick<GatedRequest, 'key'>,
): Promise<void> {
  const { facts, stored, parking } = run
  // The task is locked, so requests of one run come here one after another. A transaction that runs again leaves an
  // entry without an approval, which is ignored later.
  stored.addRequest(id, key)
  if (status === 'pending' || facts.isResumable) await saveRunState(tx, run)
  if (status === 'pending') tx.afterCommit(() => parking.startTimer(() => stored.hasOpenRequest(id)))
}
