import { z } from 'zod'
import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, notFound } from '../../platform/base/problem.ts'
import { lockChannel } from '../../customers/channels/rows.ts'
import { updateMessagesHandled, updateMessagesOfTaskWaiting } from '../../customers/threads/sender-rows.ts'
import { findThread, THREAD_STATUSES } from '../../customers/threads/thread-rows.ts'
import {
  updateThreadClosed,
  updateThreadDismissed,
  updateThreadHolder,
  updateThreadRead,
  updateThreadReopened,
  updateThreadWaiting,
} from '../../customers/threads/thread-state-rows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { endCancelledTask } from '../../approvals/lifecycle/cancel-task.ts'
import type { TaskRow, ThreadRow } from '../../platform/store/tables.ts'
import { lockWaitingTasksOfThread } from '../../work/tasks/thread-task-rows.ts'

export const ThreadChange = z.object({
  status: z.enum(THREAD_STATUSES).optional().meta({
    description: '`closed` also cancels the tasks that wait for their run, and withdraws what waits for an approval.',
  }),
  held_by: z
    .literal('me')
    .nullish()
    .meta({ description: '`"me"`: the caller takes the conversation over from the agent; null: gives it back.' }),
  read: z.literal(true).optional().meta({ description: 'The team has read every message.' }),
  unanswered: z.literal(false).optional().meta({ description: 'Dismisses the mark that the client waits.' }),
})

type ThreadChange = z.infer<typeof ThreadChange>

/**
 * Changes a thread in one transaction. The locks are taken in the order of every writer: channel, tasks, thread, audit
 * log. The channel is locked so that no message queues a task meanwhile. Reading leaves no audit entry, because it
 * changes nothing that others rely on.
 */
export function changeThread(ctx: Ctx, scope: ProjectScope, was: ThreadRow, change: ThreadChange): Promise<ThreadRow> {
  return inTx(ctx, async (tx) => {
    const hasChannel = needsChannel(change) ? await lockChannel(tx.db, was.channel_id) : true
    if (change.status === 'open' && !hasChannel) throw conflict('the channel of this thread was removed')
    const ended = await lockTasksToEnd(tx, was.id, change)
    const actions = await updateThread(tx, scope, was, change, ended.length > 0)
    const thread = await findThread(tx.db, [scope.projectId], was.id)
    if (!thread) throw notFound('thread')
    if (change.status !== undefined && thread.status !== change.status)
      throw conflict('client has another open thread on this channel')
    for (const task of ended) await endWaitingTask(tx, scope, was.id, change, task)
    for (const action of actions) await appendAuditEntry(tx, scope.projectId, scope.actor, action, was.id)
    publishProjectChange(tx, scope.projectId, { kind: 'thread', id: was.id, status: thread.status })
    return thread
  })
}

const needsChannel = ({ status, held_by }: ThreadChange): boolean => status !== undefined || held_by === 'me'

/** A closed conversation needs no answers. A person who takes one over may still want the draft of the agent. */
async function lockTasksToEnd(tx: Tx, thread_id: string, { status, held_by }: ThreadChange): Promise<WaitingTask[]> {
  if (status !== 'closed' && held_by !== 'me') return []
  const waiting = await lockWaitingTasksOfThread(tx.db, { thread_id })
  return status === 'closed' ? waiting : waiting.filter((task) => task.status === 'queued')
}

type WaitingTask = Pick<TaskRow, 'id' | 'status'>

/** Writes the changes and returns the names of their audit entries. */
async function updateThread(
  tx: Tx,
  { actor }: ProjectScope,
  was: ThreadRow,
  { status, held_by, read, unanswered }: ThreadChange,
  endsTasks: boolean,
): Promise<string[]> {
  const { id } = was
  const now = isoNow(tx)
  const actions: string[] = []
  if (status === 'closed' && (await updateThreadClosed(tx.db, id, now))) {
    actions.push('thread.closed')
    await dismissMessages(tx, id)
  }
  if (status === 'open' && (await updateThreadReopened(tx.db, was, now))) actions.push('thread.reopened')
  if (held_by === 'me' && (await updateThreadHolder(tx.db, id, actor))) actions.push('thread.held')
  if (held_by === null && (await updateThreadHolder(tx.db, id, null))) actions.push('thread.given_back')
  if (read) await updateThreadRead(tx.db, id)
  if (endsTasks && status !== 'closed') await updateThreadWaiting(tx.db, { id, at: now, reason: 'held' })
  if (unanswered === false && (await dismissMessages(tx, id))) actions.push('thread.dismissed')
  return actions
}

/** False if nothing in the thread waited for the team. */
async function dismissMessages(tx: Tx, id: string): Promise<boolean> {
  const [marked] = await updateThreadDismissed(tx.db, { id })
  if (marked) await updateMessagesHandled(tx.db, { thread_id: id, n: marked.message_count })
  return marked !== undefined
}

/** After a takeover the messages of the task have no answer yet, so they wait for the person. */
async function endWaitingTask(
  tx: Tx,
  scope: ProjectScope,
  thread_id: string,
  { status }: ThreadChange,
  task: WaitingTask,
): Promise<void> {
  if (status !== 'closed') await updateMessagesOfTaskWaiting(tx.db, { thread_id, task_id: task.id })
  const message = status === 'closed' ? 'the conversation was closed' : 'a person has taken the conversation over'
  await endCancelledTask(tx, scope, task, message)
}
