import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { SignedTokenRow } from '../../platform/store/tables.ts'

/** Inserts nothing if the token is bound already. */
export const insertSignedToken = prepareQuery<SignedTokenRow>((db, arg) =>
  db
    .insertInto('signed_tokens')
    .values({
      signature_hash: arg('signature_hash'),
      channel_id: arg('channel_id'),
      body_hash: arg('body_hash'),
      created_at: arg('created_at'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

export const findSignedToken = prepareQuery<Pick<SignedTokenRow, 'signature_hash'>, SignedTokenRow>((db, arg) =>
  db.selectFrom('signed_tokens').selectAll().where('signature_hash', '=', arg('signature_hash')),
)

export const deleteSignedTokensBefore = prepareQuery<{ before: string }>((db, arg) =>
  db.deleteFrom('signed_tokens').where('created_at', '<', arg('before')).$castTo<never>(),
)
