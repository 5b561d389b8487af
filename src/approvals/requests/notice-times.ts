import type { EscalationStep } from '../../platform/contract/wedge/declared-approvals.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { findAnyNotifier } from './rows.ts'

type AskedApproval = Pick<ApprovalRow, 'project_id' | 'path' | 'client_id' | 'created_at' | 'escalate'>

/**
 * When members are first notified of a request: at once, if the project has a service for that, or else at the first
 * step of its escalation. Null: the request waits for a person who looks at the console. A question to the client
 * concerns no member.
 */
export async function firstNoticeAt(tx: Tx, row: AskedApproval): Promise<string | null> {
  if (row.path === 'question' && row.client_id !== null) return null
  const [notifier] = await findAnyNotifier(tx.db, { project_id: row.project_id })
  return notifier ? row.created_at : nextEscalationAt(row, row.created_at)
}

type EscalatedApproval = Pick<ApprovalRow, 'created_at' | 'escalate'>

/** The steps of an escalation with their times, the earliest first. */
export function listEscalations({ created_at, escalate }: EscalatedApproval): { at: string; to: string[] }[] {
  const steps: EscalationStep[] = escalate === null ? [] : JSON.parse(escalate)
  return steps.map(({ after_s, to }) => ({ at: toIsoTime(Date.parse(created_at) + after_s * 1000), to }))
}

/** When the first step after a time is due; null if there is none. */
export const nextEscalationAt = (row: EscalatedApproval, after: string): string | null =>
  listEscalations(row).find(({ at }) => at > after)?.at ?? null
