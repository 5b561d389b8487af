import { hash } from 'node:crypto'
import { canonicalJson, type Json } from '../../platform/base/json.ts'
import type { LazyAbort } from '../../platform/base/lazy-abort.ts'
import type { AskPerson } from '../../connections/calls/executor.ts'
import type { Connection } from '../../connections/connection/rows.ts'
import type { AmountMapping } from '../../platform/contract/amount.ts'
import type { Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { ApprovalRow, EffectRow, TaskRow } from '../../platform/store/tables.ts'
import type { TaskConstraints } from '../../work/tasks/constraints.ts'

/** What the gate needs to know of the run that asks for an approval. */
export interface GatedRun {
  taskId: string
  task: Pick<TaskRow, 'id' | 'client_id' | 'thread_id' | 'channel_id'>
  epoch: number
  projectId: string
  wedge: Wedge
  taskType: string
  constraints: TaskConstraints
  /** Aborted when the run is ended by a cancel, a rejection, an expiry or a lost lease. */
  over: LazyAbort
  /** The requests that wait for a person. A run exists on one replica only, so the number is exact. */
  pendingRequests: Set<GatedRequest>
  /** What the run has stored as records, events and files. */
  usage: { storedBytes: number }
  /** The run continues after the death of its replica even if it does not wait. */
  isResumable: boolean
  /** Stores the request with what another process needs to continue the run, in the transaction that asks. */
  saveRequest(tx: Tx, approval: Pick<ApprovalRow, 'id' | 'status'>, request: GatedRequest): Promise<void>
  /** Counts the time of the work, which is not a wait for a person. */
  whileWorking<T>(work: () => Promise<T>): Promise<T>
  /** A run that waits uses no slot, and a stop of the service does not wait for it. Its request must be stored before. */
  whileWaiting<T>(wait: () => Promise<T>): Promise<T>
  /** Asks a person whether an action happened whose outcome is unknown; null if there is no answer. */
  askWhetherDone(approval: ApprovalRow, effect: EffectRow): Promise<boolean | null>
  /** Asks the team what a server wants to know during a call; `callId` names the call. */
  askForServer(callId: string, connection: Pick<Connection, 'name'>): AskPerson
  /** Another process may continue the run and then needs the results of its actions. */
  keepsResults(): boolean
  /** The approval of an earlier process of the run, if this request repeats the request for it. */
  takeEarlierApproval(key: string): ApprovalRow | null
}

/** A request for an approval since the last result of a tool, or since the checkpoint of a custom agent. */
export interface OpenRequest {
  approval_id: string
  key: string
  /** The answer was sent to the agent. */
  is_answered: boolean
  /** A custom agent has written a checkpoint since it got the answer. */
  is_used: boolean
}

/** Two requests with the same key ask for the same. Made from what the agent sent, without what a connection adds. */
export const requestKey = (path: GatedRequest['path'], action: string, sent: Json): string =>
  hash('sha256', canonicalJson([path, action, sent]))

/** What the approval keeps of a tool, so that its text and its amount stay the same when the connection changes. */
export interface ActionTool {
  /** What the tool does, such as "create a refund". */
  phrase: string
  amount: AmountMapping | null
}

export interface GatedRequest {
  /** See `requestKey`. */
  key: string
  action: string
  payload: Json
  path: 'action' | 'tool' | 'question'
  risk: string
  /** The connection that would send the action; null for a tool call, which the agent makes itself, and a question. */
  connection: Pick<Connection, 'id' | 'name'> | null
  /** The tool of the connection that the action calls, if it is one that the connection offers by name. */
  tool?: ActionTool | null
  /** The client who is asked a question. Who decides about an action is declared by the wedge. */
  clientId?: string | null
  /** The thread that the action replies to. No rule approves a reply while a person has taken the conversation over. */
  threadId?: string | null
}
