import type { Tx } from '../ctx/ctx.ts'
import type { ApprovalRow } from '../store/tables.ts'
import { findAnyNotifier } from './rows.ts'

type AskedApproval = Pick<ApprovalRow, 'project_id' | 'path' | 'client_id' | 'created_at'>

/**
 * When members are first told of a request: at once, if the project has a service that can tell them. Null: the request
 * waits for somebody who looks at the console. A question to the client concerns no member.
 */
export async function firstNoticeAt(tx: Tx, row: AskedApproval): Promise<string | null> {
  if (row.path === 'question' && row.client_id !== null) return null
  const [notifier] = await findAnyNotifier(tx.db, { project_id: row.project_id })
  return notifier ? row.created_at : null
}
