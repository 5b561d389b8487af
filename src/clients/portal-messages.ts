import { audit } from '../audit/append.ts'
import { badRequest, conflict, Problem, tooLarge } from '../base/problem.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ClientScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { Messages, QueuedTask, Threads } from '../store/tables.ts'
import { takeRateTurn } from '../tasks/admission.ts'
import { findChannel } from './channel-rows.ts'
import { findClient } from './client-rows.ts'
import { planFor } from './inbound.ts'
import { receive } from './messages.ts'
import { placeIn } from './thread-rows.ts'

const MOST_CHARACTERS = 10_000
const MOST_PER_MINUTE = 30

/** A client's word in a thread of theirs, and the task that it asks for. */
export async function postMessage(ctx: Ctx, scope: ClientScope, thread: Threads, body: string): Promise<Messages> {
  refuseWrongLength(body)
  const plan = await planOrRefuse(ctx, thread)
  return inTx(ctx, async (tx) => {
    // Counted like the creations of a project, under the client's id: exact over all replicas.
    await takeRateTurn(tx, scope.clientId, MOST_PER_MINUTE, 'messages')
    const client = await findClient(tx.db, [scope.projectId], scope.clientId)
    const [place] = await placeIn(tx.db, { id: thread.id, now: isoNow(tx) })
    if (place?.status !== 'open') throw conflict('thread is closed')
    const from = { handle: client?.handles[0] ?? null, name: client?.display_name ?? null }
    const received = { from, body, subject: null, external_id: null }
    const message = await receive(tx, scope.actor, place, plan, received)
    await audit(tx, scope.projectId, scope.actor, 'message.posted', message.id, {
      thread_id: thread.id,
      task_id: plan.id,
    })
    return message
  })
}

/** Characters as people count them, not the halves of which some are made in memory. */
function refuseWrongLength(body: string): void {
  if (body.trim() === '') throw badRequest("field 'body' must not be empty")
  if (body.length > MOST_CHARACTERS && Array.from(body).length > MOST_CHARACTERS) {
    throw tooLarge('message is longer than 10,000 characters')
  }
}

/** Why a channel takes no messages is the founder's matter: the client learns only that it does not. */
async function planOrRefuse(ctx: Ctx, thread: Threads): Promise<QueuedTask> {
  const channel = await findChannel(ctx.db, [thread.project_id], thread.channel_id)
  if (!channel) throw takesNone()
  return planFor(ctx, channel).catch((error: unknown) => {
    throw error instanceof Problem ? takesNone() : error
  })
}

const takesNone = () => conflict('thread takes no messages now')
