import type { OpenRequest } from '../../../approvals/policy/gated-request.ts'
import type { Json } from '../../../platform/base/json.ts'
import type { Brief } from '../../../platform/contract/agent-protocol.ts'
import type { ApprovalRow } from '../../../platform/store/tables.ts'
import type { CellKind } from '../cells/agent-cell.ts'
import type { EarlierRun } from './run-state.ts'

/** A longer conversation is not stored any more, and its run can then no longer continue in another process. */
export const MAX_TRANSCRIPT_CHARS = 4 * 1024 * 1024

/**
 * How long before a checkpoint is read an answer must have been sent to come before it for certain. Checkpoints and
 * requests have different ways to the service, and may overtake each other.
 */
const MIN_CHECKPOINT_DISTANCE_MS = 10_000

/** The state of a run, besides its log, from which another process can continue it. */
export class StoredRun {
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
  /** When the answers to requests were sent to the agent, in real milliseconds, by the id of the approval. */
  readonly #answeredAt = new Map<string, number>()
  readonly #repeatable: OpenRequest[]
  readonly #approvals: ApprovalRow[]

  constructor(earlier: EarlierRun | null) {
    this.brief = earlier && JSON.parse(earlier.state.brief)
    this.nextSeq = earlier?.nextSeq ?? 1
    this.transcriptChars = earlier ? JSON.stringify(earlier.entries).length : 0
    this.checkpoint = earlier?.state.checkpoint == null ? null : JSON.parse(earlier.state.checkpoint)
    this.requests = [...(earlier?.requests ?? [])]
    this.mayHaveState = earlier !== null
    this.#repeatable = [...(earlier?.requests ?? [])]
    this.#approvals = earlier?.approvals ?? []
  }

  get isTranscriptTooLong(): boolean {
    return this.transcriptChars > MAX_TRANSCRIPT_CHARS
  }

  /** Whether another process could continue the run. */
  canContinueElsewhere(cellKind: CellKind): boolean {
    return this.brief !== null && (cellKind === 'custom' ? this.checkpoint !== null : !this.isTranscriptTooLong)
  }

  addRequest(approval_id: string, key: string): void {
    this.requests = [...this.requests, { approval_id, key, is_answered: false, is_used: false }]
  }

  /** Whether a request waits for its answer: this one, or any. */
  hasOpenRequest(approvalId?: string): boolean {
    return this.requests.some(
      ({ approval_id, is_answered }) => !is_answered && (approvalId === undefined || approval_id === approvalId),
    )
  }

  /** The answer to a request was sent to the agent. */
  markAnswered(approvalId: string, now: number): void {
    this.#answeredAt.set(approvalId, now)
    this.requests = this.requests.map((request) =>
      request.approval_id === approvalId ? { ...request, is_answered: true } : request,
    )
  }

  /**
   * Keeps a checkpoint of a custom agent. A request that was answered before stays for a while: if the agent made it after
   * the checkpoint and repeats it, it gets the same answer.
   */
  keepCheckpoint(checkpoint: Json, now: number): void {
    this.checkpoint = checkpoint
    const sinceAnswer = (id: string) => now - (this.#answeredAt.get(id) ?? Number.POSITIVE_INFINITY)
    this.requests = this.requests
      .filter(({ approval_id }) => sinceAnswer(approval_id) < MIN_CHECKPOINT_DISTANCE_MS)
      .map((request) => ({ ...request, is_used: request.is_answered }))
  }

  /** The approval of an earlier process of the run, if this request repeats the request for it. Each is taken once. */
  takeEarlierApproval(key: string): ApprovalRow | null {
    for (;;) {
      const index = this.#repeatable.findIndex((request) => request.key === key)
      if (index < 0) return null
      const [request] = this.#repeatable.splice(index, 1)
      const approval = this.#approvals.find(({ id }) => id === request?.approval_id)
      if (approval) return approval
    }
  }
}
