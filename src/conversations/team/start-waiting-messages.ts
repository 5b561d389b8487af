import { conflict } from '../../platform/base/problem.ts'
import { planInboundTask } from '../../customers/channels/receive-message.ts'
import { findChannel, lockChannel } from '../../customers/channels/rows.ts'
import { listWaitingMessages, updateMessageTask } from '../../customers/threads/sender-rows.ts'
import { joinMessages, MAX_JOINED_CHARACTERS } from '../../customers/threads/debounce.ts'
import { lockThread, updateThreadAnswered } from '../../customers/threads/thread-state-rows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { listMessageFiles } from '../../work/files/rows.ts'
import type { QueuedTask, TaskRow, ThreadRow } from '../../platform/store/tables.ts'
import { queueTask } from '../../work/tasks/create-task.ts'
import { enforceRateLimit } from '../../identity/limits/minute-limit.ts'
import { findUnfinishedTaskOfThread } from '../../work/tasks/thread-task-rows.ts'

const MAX_MESSAGES = 100

/**
 * Starts one task for the messages of a thread that wait for a person. They are noted as its messages, so that a second
 * call finds none. Call it for a thread in scope; it takes the locks in the order of every writer: channel, thread, audit log.
 */
export async function startWaitingMessages(
  ctx: Ctx,
  scope: ProjectScope,
  { id, channel_id }: ThreadRow,
): Promise<{ task: TaskRow; files: string[] }> {
  const channel = await findChannel(ctx.db, [scope.projectId], channel_id)
  if (!channel) throw channelRemoved()
  const plan = await planInboundTask(ctx, channel)
  return inTx(ctx, async (tx) => {
    if (!(await lockChannel(tx.db, channel_id))) throw channelRemoved()
    const [thread] = await lockThread(tx.db, { id })
    if (thread?.status !== 'open') throw conflict('thread is closed')
    if (thread.held_by_kind !== null) throw conflict('a person has taken the conversation over: give it back first')
    const messages = await listMessagesToStart(tx, id)
    if (messages.length === 0) throw conflict('no message of this thread waits for a task')
    await enforceRateLimit(tx, scope.projectId, ctx.config.taskRatePerMin, 'tasks')
    const [other] = await findUnfinishedTaskOfThread(tx.db, { thread_id: id })
    const files = await takeMessages(tx, messages, plan.id)
    const task: QueuedTask = {
      ...plan,
      client_id: thread.client_id,
      thread_id: id,
      input: JSON.stringify(joinMessages(id, messages)),
      actor: JSON.stringify({ kind: 'client', id: thread.client_id }),
    }
    await queueTask(tx, task, scope.actor, { mayStart: !other, files })
    await updateThreadAnswered(tx.db, { id })
    publishProjectChange(tx, scope.projectId, { kind: 'thread', id, status: thread.status })
    return { task, files }
  })
}

const channelRemoved = () => conflict('the channel of this thread was removed')

/** Oldest first. Very many, or very long ones, are left for another task. */
async function listMessagesToStart(tx: Tx, thread_id: string) {
  const waiting = await listWaitingMessages(tx.db, { thread_id, limit: MAX_MESSAGES })
  let characters = 0
  const taken = waiting.filter(({ body }, n) => (characters += body.length) <= MAX_JOINED_CHARACTERS || n === 0)
  return taken.map(({ id, from_handle, from_name, body, subject, is_unverified, created_at: at }) => ({
    id,
    from: { handle: from_handle, name: from_name },
    body,
    subject,
    at,
    ...(is_unverified === 1 && { unverified: true as const }),
  }))
}

/** Returns the files of the messages. */
async function takeMessages(tx: Tx, messages: readonly { id: string }[], task_id: string): Promise<string[]> {
  const ids = messages.map(({ id }) => id)
  for (const id of ids) await updateMessageTask(tx.db, { id, task_id })
  return (await listMessageFiles(tx.db, ids)).map(({ id }) => id)
}
