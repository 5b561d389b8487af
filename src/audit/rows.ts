import { prepared } from '../store/prepared.ts'

/** Takes the next number; the row stays locked until the commit, so numbers and hashes follow one another. */
export const takeHead = prepared<{ chain: string }, { seq: number; hash: string }>((db, arg) =>
  db
    .updateTable('audit_heads')
    .set((eb) => ({ seq: eb('seq', '+', 1) }))
    .where('chain', '=', arg('chain'))
    .returning(['seq', 'hash']),
)

export const setHeadHash = prepared<{ chain: string; hash: string }>((db, arg) =>
  db
    .updateTable('audit_heads')
    .set({ hash: arg('hash') })
    .where('chain', '=', arg('chain'))
    .$castTo<never>(),
)

export const startChain = prepared<{ chain: string; hash: string }>((db, arg) =>
  db
    .insertInto('audit_heads')
    .values({ chain: arg('chain'), seq: 0, hash: arg('hash') })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

export const insertEntry = prepared<{
  chain: string
  seq: number
  ts: string
  actor_kind: string
  actor_id: string
  action: string
  subject: string
  data: string
  prev_hash: string
  hash: string
}>((db, arg) =>
  db
    .insertInto('audit_entries')
    .values({
      chain: arg('chain'),
      seq: arg('seq'),
      ts: arg('ts'),
      actor_kind: arg('actor_kind'),
      actor_id: arg('actor_id'),
      action: arg('action'),
      subject: arg('subject'),
      data: arg('data'),
      prev_hash: arg('prev_hash'),
      hash: arg('hash'),
    })
    .$castTo<never>(),
)
