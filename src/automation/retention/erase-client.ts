import { lockClient } from '../../identity/organisations/project-client-rows.ts'
import { deleteRateWindows } from '../../identity/limits/rate-window-rows.ts'
import { countStoredBytes } from '../../identity/limits/storage-usage.ts'
import type { OpenEffect } from '../../approvals/effects/effect-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { notFound, problemOrThrow } from '../../platform/base/problem.ts'
import { senderCounters } from '../../customers/threads/sender-limit.ts'
import type { ClientWithHandles } from '../../customers/clients/rows.ts'
import { removeConnection } from '../../connections/setup/connections.ts'
import { deleteProgramFiles } from '../../connections/mcp/program-file-rows.ts'
import { findConnection } from '../../connections/connection/rows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { type ProjectScope, SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { removeArtifactObject } from '../../work/files/artifact-objects.ts'
import { discardFile } from '../../work/files/delete-file.ts'
import { cancelTask } from '../../approvals/lifecycle/cancel-task.ts'
import { linkCounter } from '../../conversations/portal/request-link.ts'
import { listArtifactFiles } from './log-rows.ts'
import { findTaskUnscoped, lockTask } from '../../work/tasks/rows.ts'
import { isTerminalStatus } from '../../work/tasks/status.ts'
import {
  closeOpenEffects,
  deleteClient,
  deleteClientAccess,
  deleteTaskArtifacts,
  deleteTaskKnowledge,
  deleteTaskLog,
  deleteThreads,
  emptyApprovals,
  emptyCases,
  emptyTask,
  listClientFiles,
  listConnectionIds,
  listTasksToErase,
} from './rows.ts'

/** Limits one transaction, so that other writers never wait long for it. */
const TASKS_PER_BATCH = 20
const FILES_PER_BATCH = 50

export interface ErasedCounts {
  tasks: number
  files: number
  knowledge: number
  threads: number
  messages: number
  connections: number
}

/**
 * Erases what the service stores about a client, in several transactions. The row of the client is deleted last: if the
 * process dies in between, the same request continues. Tasks keep their ids, times, status and cost. The audit log keeps its
 * entries, which name the client by its id and contain hashes instead of payloads.
 */
export async function eraseClient(ctx: Ctx, scope: ProjectScope, client: ClientWithHandles): Promise<ErasedCounts> {
  await inTx(ctx, (tx) => deleteAccess(tx, client))
  const counts: ErasedCounts = { tasks: 0, files: 0, knowledge: 0, threads: 0, messages: 0, connections: 0 }
  for (const { id } of await listConnectionIds(ctx.db, client.id)) {
    const connection = await findConnection(ctx.db, id)
    if (connection) await removeConnection(ctx, scope, connection)
    counts.connections++
  }
  for (let lastTask = ''; ; ) {
    lastTask = await eraseTasks(ctx, scope, client.id, counts, lastTask)
    counts.files += await eraseFiles(ctx, client.id)
    if (await deleteEmptyClient(ctx, scope, client, counts, lastTask)) return counts
  }
}

/** False if the client got a task meanwhile. */
function deleteEmptyClient(
  ctx: Ctx,
  scope: ProjectScope,
  client: ClientWithHandles,
  counts: ErasedCounts,
  lastTask: string,
): Promise<boolean> {
  return inTx(ctx, async (tx) => {
    await lockClient(tx.db, client.id)
    if ((await listTasksToErase(tx.db, client.id, lastTask, 1)).length > 0) return false
    Object.assign(counts, await deleteThreads(tx.db, client.id))
    await emptyCases(tx.db, client.id)
    // An inbound message may have claimed a handle for the client until here.
    await deleteAccess(tx, client)
    countStoredBytes(tx, client.project_id, -(await deleteProgramFiles(tx.db, { client_id: client.id })))
    if (!(await deleteClient(tx.db, client.id))) throw notFound('client')
    await appendAuditEntry(tx, client.project_id, scope.actor, 'client.erased', client.id, { ...counts })
    return true
  })
}

/** Also the counters of limits, which are named by the client and its addresses. */
async function deleteAccess(tx: Tx, { id, project_id, handles }: ClientWithHandles): Promise<void> {
  await deleteClientAccess(tx.db, id)
  for (const subject of [...senderCounters(id), ...handles.map((handle) => linkCounter(project_id, handle))])
    await deleteRateWindows(tx.db, subject)
}

/** Erases the tasks that come after one, and returns the last one. */
async function eraseTasks(
  ctx: Ctx,
  scope: ProjectScope,
  clientId: string,
  counts: ErasedCounts,
  lastTask: string,
): Promise<string> {
  for (let after = lastTask; ; ) {
    const tasks = await listTasksToErase(ctx.db, clientId, after, TASKS_PER_BATCH)
    for (const { id, status } of tasks) if (!isTerminalStatus(status)) await cancelUnfinished(ctx, scope, id)
    await inTx(ctx, async (tx) => {
      const open: OpenEffect[] = []
      for (const { id } of tasks) open.push(...(await eraseTask(tx, id, counts)))
      // After all tasks, because the lock of the audit log is the last one of every transaction.
      for (const { id, project_id, task_id, action } of open) {
        const data = { action, task_id, outcome: 'unknown' }
        await appendAuditEntry(tx, project_id, SYSTEM_ACTOR, 'action.executed', id, data)
      }
    })
    counts.tasks += tasks.length
    const last = tasks.at(-1)
    if (!last || tasks.length < TASKS_PER_BATCH) return last?.id ?? after
    after = last.id
  }
}

/**
 * Erases the files that the client sent or that runs made for it. Files that the team uploaded stay. If the process dies,
 * the cleanup of files removes the bytes of those that are hidden.
 */
async function eraseFiles(ctx: Ctx, clientId: string): Promise<number> {
  for (let count = 0; ; ) {
    const files = await listClientFiles(ctx.db, clientId, FILES_PER_BATCH)
    if (files.length === 0) return count
    for (const file of files) {
      await discardFile(ctx, file)
      count++
    }
  }
}

/** The task may finish at the same moment. */
async function cancelUnfinished(ctx: Ctx, scope: ProjectScope, taskId: string): Promise<void> {
  const task = await findTaskUnscoped(ctx.db, taskId)
  if (task) await cancelTask(ctx, scope, task).catch(problemOrThrow)
}

/** Returns the actions that were in progress. */
async function eraseTask(tx: Tx, taskId: string, counts: ErasedCounts): Promise<OpenEffect[]> {
  const [task] = await lockTask(tx.db, { id: taskId })
  if (!task) return []
  const logBytes = await deleteTaskLog(tx.db, taskId)
  const artifacts = await listArtifactFiles(tx.db, { task_id: taskId })
  for (const artifact of artifacts) if (artifact.storage === 's3') await removeArtifactObject(tx, artifact)
  await deleteTaskArtifacts(tx.db, taskId)
  await emptyApprovals(tx.db, taskId)
  const open = await closeOpenEffects(tx.db, taskId, isoNow(tx))
  counts.knowledge += await deleteTaskKnowledge(tx.db, taskId)
  counts.files += artifacts.length
  await emptyTask(tx.db, taskId, isoNow(tx))
  const fileBytes = artifacts.reduce((sum, { bytes }) => sum + bytes, 0)
  countStoredBytes(tx, task.project_id, -(logBytes + fileBytes))
  return open
}
