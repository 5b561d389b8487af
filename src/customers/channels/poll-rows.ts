import type { Db } from '../../platform/store/store.ts'
import type { ChannelRow } from '../../platform/store/tables.ts'

/** Claims or renews the channels of these adapters that no other living replica polls. Returns all claims of the replica. */
export async function claimPolledChannels(
  db: Db,
  claim: { replica: string; staleBefore: string; until: string; adapters: readonly string[] },
): Promise<ChannelRow[]> {
  if (claim.adapters.length === 0) return []
  // Most deployments have no such channel, and then nothing is written.
  const some = db.selectFrom('channels').select('id').where('adapter', 'in', claim.adapters).limit(1)
  if (!(await some.executeTakeFirst())) return []
  return db
    .updateTable('channels')
    .set({ poller: claim.replica, poller_until: claim.until })
    .where('adapter', 'in', claim.adapters)
    .where((row) =>
      row.or([
        row('poller', 'is', null),
        row('poller', '=', claim.replica),
        row('poller_until', '<', claim.staleBefore),
      ]),
    )
    .returningAll()
    .execute()
}

/** Lets other replicas take over at once. */
export async function releasePolledChannels(db: Db, replica: string): Promise<void> {
  await db.updateTable('channels').set({ poller: null, poller_until: null }).where('poller', '=', replica).execute()
}

/** False if the replica has lost its claim. */
export async function updateChannelProgress(
  db: Db,
  { id, replica, progress, now }: { id: string; replica: string; progress: string; now: string },
): Promise<boolean> {
  const query = db.updateTable('channels').set({ progress }).where('id', '=', id).where('poller', '=', replica)
  return (await query.where('poller_until', '>=', now).returning('id').execute()).length > 0
}
