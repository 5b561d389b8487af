import { type SqlBool, sql } from 'kysely'
import type { PageQuery } from '../http/page.ts'
import { listNewestPage, matchColumns } from '../store/newest-page.ts'
import type { Db } from '../store/store.ts'
import type { ApprovalRow, TaskRow } from '../store/tables.ts'

export type ClientApproval = ApprovalRow &
  Pick<TaskRow, 'thread_id'> & { /** Of the client. */ voted_at: string | null }

/** What a client was asked to approve, newest first. */
export function listClientApprovals(
  db: Db,
  { projectId, clientId }: { projectId: string; clientId: string },
  { status, ...page }: PageQuery & { status?: string | undefined },
): Promise<ClientApproval[]> {
  const asked = db
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
    .selectAll('approvals')
    .select(['tasks.thread_id', 'approval_votes.created_at as voted_at'])
    .where('approvals.client_id', '=', clientId)
  const isNoQuestion = sql<SqlBool>`approvals.path <> 'question'`
  const filters = [isNoQuestion, ...matchColumns({ 'approvals.project_id': projectId, 'approvals.status': status })]
  return listNewestPage(asked, page, filters, 'approvals.id')
}
