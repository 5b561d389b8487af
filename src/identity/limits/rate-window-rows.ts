import type { Db } from '../../platform/store/store.ts'

// The table `login_failures` counts whatever a limit counts in time windows. It has the name of its first use, because replicas
// of the earlier version still read it by this name during an upgrade.

/** Returns the new count. */
export async function incrementRateWindow(db: Db, subject: string, windowStart: string): Promise<number> {
  const query = db
    .insertInto('login_failures')
    .values({ subject, window_start: windowStart, count: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['subject', 'window_start'])
        .doUpdateSet((eb) => ({ count: eb('login_failures.count', '+', 1) })),
    )
  return (await query.returning('count').executeTakeFirstOrThrow()).count
}

export async function readRateWindow(db: Db, subject: string, windowStart: string): Promise<number> {
  const query = db.selectFrom('login_failures').select('count').where('subject', '=', subject)
  return (await query.where('window_start', '=', windowStart).executeTakeFirst())?.count ?? 0
}

/** The count of all windows since this one. */
export async function sumRateWindows(db: Db, subject: string, since: string): Promise<number> {
  const query = db
    .selectFrom('login_failures')
    .select((row) => row.fn.sum<number | string>('count').as('sum'))
    .where('subject', '=', subject)
    .where('window_start', '>=', since)
  return Number((await query.executeTakeFirst())?.sum ?? 0)
}

export async function decrementRateWindow(db: Db, subject: string, windowStart: string): Promise<void> {
  const query = db.updateTable('login_failures').set((eb) => ({ count: eb('count', '-', 1) }))
  await query.where('subject', '=', subject).where('window_start', '=', windowStart).execute()
}

export async function deleteRateWindows(db: Db, subject: string): Promise<void> {
  await db.deleteFrom('login_failures').where('subject', '=', subject).execute()
}

export async function deleteRateWindowsBefore(db: Db, windowStart: string): Promise<void> {
  await db.deleteFrom('login_failures').where('window_start', '<', windowStart).execute()
}
