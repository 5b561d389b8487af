import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { DECIDABLE_COLUMNS, type DecidableApproval } from './rows.ts'

/** Holds an approval. No row if another one is held, or if the request is decided, expired, or another one than was read. */
export const updateApprovalHeld = prepareQuery<
  Pick<ApprovalRow, 'id' | 'held' | 'held_until' | 'held_by_id' | 'payload_sha256'> & { now: string },
  Pick<ApprovalRow, 'id'>
>((db, arg) =>
  db
    .updateTable('approvals')
    .set((eb) => ({
      held: arg('held'),
      held_until: arg('held_until'),
      held_by_id: arg('held_by_id'),
      dropped: null,
      version: eb('version', '+', 1),
    }))
    .where('id', '=', arg('id'))
    .where('payload_sha256', '=', arg('payload_sha256'))
    .where('status', '=', 'pending')
    .where('expires_at', '>', arg('now'))
    .where('held_until', 'is', null)
    .returning('id'),
)

/** Ends a hold, once: of a withdrawal and several replicas that end it at the same time, one gets a row. */
export const updateApprovalReleased = prepareQuery<
  { id: string; held_until: string; dropped: string | null },
  Pick<ApprovalRow, 'id'>
>((db, arg) =>
  db
    .updateTable('approvals')
    .set((eb) => ({
      held: null,
      held_until: null,
      held_by_id: null,
      dropped: arg('dropped'),
      version: eb('version', '+', 1),
    }))
    .where('id', '=', arg('id'))
    .where('held_until', '=', arg('held_until'))
    .where('status', '=', 'pending')
    .returning('id'),
)

/** Not limited to a scope: never pass an id that came from a caller. */
export const findHeldApproval = prepareQuery<
  { id: string },
  Pick<ApprovalRow, 'status' | 'edited' | 'held' | 'held_until'>
>((db, arg) =>
  db.selectFrom('approvals').select(['status', 'edited', 'held', 'held_until']).where('id', '=', arg('id')),
)

export type DueHold = DecidableApproval & Pick<ApprovalRow, 'held' | 'held_until'>

const MAX_LISTED_HOLDS = 200

/** The holds that end until this time, the first ones first. */
export const listDueHolds = prepareQuery<{ until: string }, DueHold>((db, arg) =>
  db
    .selectFrom('approvals')
    .select(DECIDABLE_COLUMNS)
    .select(['held', 'held_until'])
    .where('status', '=', 'pending')
    .where('held_until', 'is not', null)
    .where('held_until', '<=', arg('until'))
    .orderBy('held_until')
    .limit(MAX_LISTED_HOLDS),
)
