import { prepareQuery } from '../store/prepared-query.ts'
import type { SignedTokenRow } from '../store/tables.ts'

/** Inserts nothing if the channel has the token already. */
export const insertSignedToken = prepareQuery<SignedTokenRow>((db, arg) =>
  db
    .insertInto('signed_tokens')
    .values({
      channel_id: arg('channel_id'),
      token: arg('token'),
      body_hash: arg('body_hash'),
      created_at: arg('created_at'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

export const findSignedToken = prepareQuery<Pick<SignedTokenRow, 'channel_id' | 'token'>, SignedTokenRow>((db, arg) =>
  db
    .selectFrom('signed_tokens')
    .selectAll()
    .where('channel_id', '=', arg('channel_id'))
    .where('token', '=', arg('token')),
)

export const deleteSignedTokensBefore = prepareQuery<{ before: string }>((db, arg) =>
  db.deleteFrom('signed_tokens').where('created_at', '<', arg('before')).$castTo<never>(),
)
