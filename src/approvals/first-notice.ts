import type { EscalationStep } from '../contract/declared-approvals.ts'
import type { Tx } from '../ctx/ctx.ts'
import { toIsoTime } from '../ctx/world.ts'
import type { ApprovalRow } from '../store/tables.ts'

/** When people are told of a new approval, or else when the first step of its escalation is due; null: never. */
export async function firstNoticeAt(_tx: Tx, row: EscalatedApproval): Promise<string | null> {
  return nextEscalation(row, row.created_at)?.at ?? null
}

export type EscalatedApproval = Pick<ApprovalRow, 'created_at' | 'escalate'>

/** The steps of an escalation with their times, the earliest first. */
export function listEscalations({ created_at, escalate }: EscalatedApproval): { at: string; to: string[] }[] {
  const steps: EscalationStep[] = escalate === null ? [] : JSON.parse(escalate)
  return steps.map(({ after_s, to }) => ({ at: toIsoTime(Date.parse(created_at) + after_s * 1000), to }))
}

/** The first step after a time. */
export const nextEscalation = (row: EscalatedApproval, after: string) =>
  listEscalations(row).find(({ at }) => at > after)
