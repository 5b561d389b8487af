import { type SqlBool, sql } from 'kysely'
import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestPage, matchColumns } from '../../platform/store/newest-page.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalRow, TaskRow } from '../../platform/store/tables.ts'

export type ClientApproval = ApprovalRow &
  Pick<TaskRow, 'thread_id'> & { /** Of the client. */ voted_at: string | null }

/** What a client was asked to approve, newest first. */
export async function listClientApprovals(
  db: Db,
  { projectId, clientId }: { projectId: string; clientId: string },
  { status, ...page }: PageQuery & { status?: string | undefined },
): Promise<ClientApproval[]> {
  const asked = db.selectFrom('approvals').selectAll().where('client_id', '=', clientId)
  const isNoQuestion = sql<SqlBool>`path <> 'question'`
  const approvals = await listNewestPage(asked, page, [
    isNoQuestion,
    ...matchColumns({ project_id: projectId, status }),
  ])
  const details = await listApprovalDetails(db, clientId, approvals)
  return approvals.map((approval) => ({
    ...approval,
    thread_id: details.get(approval.id)?.thread_id ?? null,
    voted_at: details.get(approval.id)?.voted_at ?? null,
  }))
}

/** The conversation and the client's vote of each approval. Joined to the search, they would be read for every row. */
async function listApprovalDetails(db: Db, clientId: string, approvals: readonly ApprovalRow[]) {
  if (approvals.length === 0) return new Map<string, Pick<ClientApproval, 'thread_id' | 'voted_at'>>()
  const ids = approvals.map(({ id }) => id)
  const rows = await db
    .selectFrom('approvals')
    .innerJoin('tasks', 'tasks.id', 'approvals.task_id')
    .leftJoin('approval_votes', (join) =>
      join
        .onRef('approval_votes.approval_id', '=', 'approvals.id')
        // A vote for an earlier payload does not count any more.
        .onRef('approval_votes.payload_sha256', '=', 'approvals.payload_sha256')
        .on('approval_votes.voter_kind', '=', 'client')
        .on('approval_votes.voter_id', '=', clientId),
    )
    .select(['approvals.id', 'tasks.thread_id', 'approval_votes.created_at as voted_at'])
    .where('approvals.id', 'in', ids)
    .execute()
  return new Map(rows.map(({ id, ...detail }) => [id, detail]))
}
