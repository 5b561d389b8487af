import { z } from 'zod'
import type { NamedActor } from '../../identity/organisations/actor-name-rows.ts'
import { NamedActorView } from '../../identity/authentication/view.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { parseDropped, parseHeld, withHeldEdit } from './held-approval.ts'

export type NameOf = (kind: string | null, id: string | null) => NamedActor | null

/** An approval that can still be withdrawn. */
export const HeldApprovalView = z
  .object({
    decision: z.literal('approved'),
    by: NamedActorView,
    until: z.string().meta({ description: 'When the approval is made. `by` can withdraw it before.' }),
    edited: jsonObject
      .nullable()
      .meta({ description: 'All fields that differ from `preview` when it is sent; null: it edits nothing.' }),
  })
  .meta({ id: 'HeldApproval' })

export const DroppedApprovalView = z
  .object({ by: NamedActorView, at: z.string(), reason: z.string() })
  .meta({ id: 'DroppedApproval', description: 'An approval that was held and could not be made: `reason` says why.' })

export function toHeldView(row: Pick<ApprovalRow, 'status' | 'edited' | 'held' | 'held_until'>, nameOf: NameOf) {
  const held = parseHeld(row)
  if (!held) return null
  return {
    decision: 'approved',
    by: nameOf(held.by.kind, held.by.id),
    until: row.held_until ?? '',
    edited: held.edited && (JSON.parse(withHeldEdit(row).edited ?? 'null') as JsonObject | null),
  }
}

export function toDroppedView(row: ApprovalRow, nameOf: NameOf) {
  const dropped = parseDropped(row)
  return dropped && { ...dropped, by: nameOf(dropped.by.kind, dropped.by.id) }
}
