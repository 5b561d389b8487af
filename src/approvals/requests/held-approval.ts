import type { JsonObject } from '../../platform/base/json.ts'
import type { Actor, Role } from '../../platform/ctx/scope.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'

/** An approval that a person has made and can still withdraw. */
export interface HeldApproval {
  by: Actor
  /** The role of the credential that the person used. */
  role: Role
  made_at: string
  edited: JsonObject | null
  note: string | null
  /** The hash of the decision link that the person used; null: none. */
  link_hash: string | null
}

/** A held approval that could not be made when its seconds were over. */
export interface DroppedApproval {
  by: Actor
  at: string
  reason: string
}

export const parseDropped = ({ dropped }: Pick<ApprovalRow, 'dropped'>): DroppedApproval | null =>
  dropped === null ? null : JSON.parse(dropped)

export function parseHeld({ held }: Pick<ApprovalRow, 'held'>): HeldApproval | null {
  if (held === null) return null
  const parsed: HeldApproval = JSON.parse(held)
  return parsed
}

/** The row with the edit that is held, as it will be sent: its fields replace those of an earlier edit. */
export function withHeldEdit<Row extends Pick<ApprovalRow, 'status' | 'held' | 'edited'>>(row: Row): Row {
  const edit = row.status === 'pending' ? parseHeld(row)?.edited : null
  return edit ? { ...row, edited: JSON.stringify({ ...JSON.parse(row.edited ?? '{}'), ...edit }) } : row
}

/** How long the console, the decision page and the chats hold an approval of high risk, in seconds. */
const HIGH_RISK_HOLD_S = 5

/** How long a person can withdraw an approval that was made with a button, in seconds. An answer is sent at once. */
export const buttonHoldS = ({ risk, path }: Pick<ApprovalRow, 'risk' | 'path'>): number =>
  risk === 'high' && path !== 'question' ? HIGH_RISK_HOLD_S : 0
