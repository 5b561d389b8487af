import { findApprovalUnscoped } from '../../../approvals/requests/rows.ts'
import type { GatedRequest, GatedRun, OpenRequest } from '../../../approvals/policy/gated-request.ts'
import type { Json } from '../../../platform/base/json.ts'
import type { Brief, LoggedStep } from '../../../platform/contract/agent-protocol.ts'
import type { TranscriptEntry } from '../../../platform/contract/transcript.ts'
import type { Tx } from '../../../platform/ctx/ctx.ts'
import { listLastStepEvents } from '../../../work/events/rows.ts'
import { deleteRunState, findRunState, upsertRunState } from '../../../approvals/lifecycle/run-state-rows.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { ApprovalRow, RunStateRow } from '../../../platform/store/tables.ts'
import { appendTranscript, readTranscript } from '../../../work/transcripts/rows.ts'
import type { TaskRun } from '../session/task-run.ts'

/** A longer conversation is not stored any more, and its run can then no longer continue in another process. */
const MAX_TRANSCRIPT_CHARS = 4 * 1024 * 1024

/** What of a run is stored, beside its log, so that another process can continue it. */
export interface StoredRun {
  /** The brief without the tokens, which each process makes for itself. */
  brief: Omit<Brief, 'service'> | null
  /** The number of the next row of the transcript. */
  nextSeq: number
  transcriptChars: number
  /** The last checkpoint of a custom agent; null: it wrote none. */
  checkpoint: Json
  /** The requests since the last result of a tool, or since the checkpoint. */
  requests: OpenRequest[]
  /** A row in `run_states` may exist. Never set back, because transactions of one run may overlap. */
  mayHaveState: boolean
}

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

export function toStoredRun(earlier: EarlierRun | null): StoredRun {
  const none = { brief: null, nextSeq: 1, transcriptChars: 0, checkpoint: null, requests: [], mayHaveState: false }
  if (!earlier) return none
  const { state, entries, nextSeq, requests } = earlier
  return {
    brief: JSON.parse(state.brief),
    nextSeq,
    transcriptChars: JSON.stringify(entries).length,
    checkpoint: state.checkpoint === null ? null : JSON.parse(state.checkpoint),
    requests: [...requests],
    mayHaveState: true,
  }
}

/** Whether another process could continue the run. */
export const canContinueElsewhere = ({ stored, cellKind }: TaskRun): boolean =>
  stored.brief !== null &&
  (cellKind === 'custom' ? stored.checkpoint !== null : stored.transcriptChars <= MAX_TRANSCRIPT_CHARS)

/**
 * Stores entries of the transcript, or the new checkpoint of a custom agent. The result of a tool answers all requests so
 * far, so a run that is not resumable has nothing left to continue with.
 */
export async function saveEntries(tx: Tx, run: TaskRun, entries: TranscriptEntry[]): Promise<void> {
  const { stored, taskId } = run
  if (stored.transcriptChars > MAX_TRANSCRIPT_CHARS) return forgetRunState(tx, run)
  if (entries.length > 0) {
    await appendTranscript(tx.db, taskId, stored.nextSeq, entries)
    tx.afterCommit(() => void stored.nextSeq++)
  }
  if (entries.some(({ by }) => by === 'tool')) stored.requests = []
  const isOpen = stored.requests.some((request) => !request.is_answered)
  return run.isResumable || isOpen ? saveRunState(tx, run) : forgetRunState(tx, run)
}

/** Removes the state of a run that has nothing to continue with, or can no longer continue. */
async function forgetRunState(tx: Tx, { taskId, stored }: TaskRun): Promise<void> {
  if (stored.mayHaveState) await deleteRunState(tx.db, { task_id: taskId })
}

/**
 * Notes that the answer to a request was sent to the agent. A run that is not resumable may act on it at once, so its
 * state is stored again, or removed if no other request is open.
 */
export function noteAnswer(run: TaskRun, approvalId: string): void {
  const { stored } = run
  run.answeredAt.set(approvalId, Date.now())
  stored.requests = stored.requests.map((request) =>
    request.approval_id === approvalId ? { ...request, is_answered: true } : request,
  )
  if (stored.mayHaveState) run.saveSoon()
}

/**
 * How long before a checkpoint is read an answer must have been sent to come before it for certain. Checkpoints and
 * requests have different ways to the service, and may overtake each other.
 */
const MIN_CHECKPOINT_DISTANCE_MS = 10_000

/**
 * Keeps a checkpoint of a custom agent. A request that was answered before stays for a while: if the agent made it after
 * the checkpoint and repeats it, it gets the same answer.
 */
export function keepCheckpoint(run: TaskRun, checkpoint: Json): void {
  const { stored, answeredAt } = run
  stored.checkpoint = checkpoint
  const sinceAnswer = (id: string) => Date.now() - (answeredAt.get(id) ?? Number.POSITIVE_INFINITY)
  stored.requests = stored.requests
    .filter(({ approval_id }) => sinceAnswer(approval_id) < MIN_CHECKPOINT_DISTANCE_MS)
    .map((request) => ({ ...request, is_used: request.is_answered }))
  if (run.isResumable || stored.mayHaveState || stored.requests.length > 0) run.saveSoon()
}

/** Stores the rest of the transcript of a run that ends. Nothing needs its state any more. */
export async function saveLastEntries(tx: Tx, run: TaskRun, entries: TranscriptEntry[]): Promise<void> {
  const { taskId, stored } = run
  if (entries.length > 0 && stored.transcriptChars <= MAX_TRANSCRIPT_CHARS)
    await appendTranscript(tx.db, taskId, stored.nextSeq, entries)
  await forgetRunState(tx, run)
}

/** Stores what another process needs to continue the run. */
export async function saveRunState(tx: Tx, run: TaskRun): Promise<void> {
  if (!canContinueElsewhere(run)) return
  const { stored, model, workingTime, constraints } = run
  stored.mayHaveState = true
  await upsertRunState(tx.db, {
    task_id: run.taskId,
    is_resumable: run.isResumable ? 1 : 0,
    brief: JSON.stringify(stored.brief),
    checkpoint: stored.checkpoint === null ? null : JSON.stringify(stored.checkpoint),
    requests: JSON.stringify(stored.requests),
    spent_micros: model.spentMicros,
    read_count: run.readCount,
    gap_count: run.gapCount,
    stored_bytes: run.storedBytes,
    worked_ms: Math.round(run.workedMs + workingTime.elapsedMs(constraints.max_runtime_s * 1000 - run.workedMs)),
    resumes: 0,
  })
}

type RequestStore = Pick<GatedRun, 'saveRequest' | 'keepsResults' | 'takeEarlierApproval'>

/** Keeps the requests of a run, so that a process that continues it neither asks nor acts again. */
export function createRequestStore(runOf: () => TaskRun, earlier: EarlierRun | null): RequestStore {
  const repeatable = earlier?.requests ?? []
  return {
    async saveRequest(tx: Tx, { id, status }: Pick<ApprovalRow, 'id' | 'status'>, { key }: GatedRequest) {
      const run = runOf()
      // The task is locked, so requests of one run come here one after another. A transaction that runs again leaves an
      // entry without an approval, which is ignored later.
      run.stored.requests = [...run.stored.requests, { approval_id: id, key, is_answered: false, is_used: false }]
      if (status === 'pending' || run.isResumable) await saveRunState(tx, run)
      if (status === 'pending') tx.afterCommit(() => run.onWaiting(id))
    },
    // The bundled harness makes one request at a time, so it needs no earlier result when it waits.
    keepsResults: () => runOf().isResumable || runOf().stored.checkpoint !== null,
    takeEarlierApproval(key) {
      for (;;) {
        const index = repeatable.findIndex((request) => request.key === key)
        if (index < 0) return null
        const [request] = repeatable.splice(index, 1)
        const approval = earlier?.approvals.find(({ id }) => id === request?.approval_id)
        if (approval) return approval
      }
    },
  }
}
