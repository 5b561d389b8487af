import type { Ctx } from '../../platform/ctx/ctx.ts'
import { WorkingTime } from '../../platform/ctx/working-time.ts'
import { CALL_TIMEOUT_MS, EgressError } from '../../platform/egress/http-client.ts'
import type { AskPerson } from '../calls/executor.ts'
import type { Connection } from '../connection/rows.ts'

/** A server as one connection reaches it. Sessions are never shared, so owners are separated like their credentials. */
export interface McpServer {
  connection: Connection
  secret: string | null
  /** Of the task that calls; absent: none. */
  clientId?: string | null
  askPerson?: AskPerson | undefined
}

/** The state of one session, from the connect to the last answer. */
export interface SessionState {
  /** Every secret that was sent to the server. */
  secrets: Set<string>
  /** True from the moment at which the tool call may reach the server. */
  isCalling: boolean
  /** True once the server has answered a request since then: it has seen the call, whatever fails afterwards. */
  isCallSeen: boolean
  /** Why the session was ended. */
  failure: Error | null
  requests: number
  /** How often the server has asked a person. */
  questions: number
  /** The questions that a person has not answered yet. */
  openQuestions: Set<Promise<unknown>>
  /** Aborted when the call has its result: the server needs no answer any more. */
  ended: AbortController
  over: AbortController
  deadline: WorkingTime
}

/** Starts the time limit of a session, which does not run while a person is asked. */
export function startSession(ctx: Ctx): SessionState {
  const deadline = new WorkingTime(ctx.world.clock)
  const state: SessionState = {
    secrets: new Set(),
    isCalling: false,
    isCallSeen: false,
    failure: null,
    requests: 0,
    questions: 0,
    openQuestions: new Set(),
    ended: new AbortController(),
    over: new AbortController(),
    deadline,
  }
  void deadline.whenElapsed(CALL_TIMEOUT_MS).then(() => {
    const sent = state.isCalling
    failSession(state, new EgressError('timeout', 'the server did not respond in time', { sent }))
  })
  return state
}

/** Ends all requests of the session. The first reason counts, and none after the call: its end also ends a program. */
export function failSession(state: SessionState, failure: Error): void {
  if (!state.ended.signal.aborted) state.failure ??= failure
  state.over.abort()
}

/** Withdraws the questions that nobody has answered, so that the run does not wait for them. */
export async function withdrawQuestions({ ended, openQuestions }: SessionState): Promise<void> {
  ended.abort()
  await Promise.allSettled(openQuestions)
}
