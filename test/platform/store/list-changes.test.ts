import { expect, test } from 'vitest'
import { listApprovals } from '../../../src/approvals/requests/rows.ts'
import type { PageQuery } from '../../../src/platform/http/page.ts'
import type { Db } from '../../../src/platform/store/store.ts'
import { listTasks } from '../../../src/work/tasks/rows.ts'
import { seedStore } from '../../../bench/seed/seed-store.ts'
import { eachStore, testApp } from '../../app.ts'

const LIMIT = 5

const decide = (db: Db, id: string) =>
  db.updateTable('approvals').set({ status: 'approved' }).where('id', '=', id).execute()
const endTask = (db: Db, id: string) =>
  db.updateTable('tasks').set({ status: 'cancelled' }).where('id', '=', id).execute()
const deleteTask = (db: Db, id: string) => db.deleteFrom('tasks').where('id', '=', id).execute()

/** A list and a change after which a row of it must not be shown. */
interface ChangedList {
  name: string
  projects: number
  list: (db: Db, projectIds: readonly string[], page: PageQuery) => Promise<{ id: string }[]>
  change: (db: Db, id: string) => Promise<unknown>
}

const pendingOfWedge: ChangedList['list'] = (db, projectIds, page) =>
  listApprovals(db, projectIds, { ...page, status: 'pending', wedge: 'bench' })
const pending: ChangedList['list'] = (db, projectIds, page) =>
  listApprovals(db, projectIds, { ...page, status: 'pending' })
const queued: ChangedList['list'] = (db, projectIds, page) => listTasks(db, projectIds, { ...page, status: 'queued' })

const LISTS: ChangedList[] = [
  { name: 'pending approvals of a wedge', projects: 3, list: pendingOfWedge, change: decide },
  { name: 'pending approvals', projects: 3, list: pending, change: decide },
  { name: 'queued tasks', projects: 3, list: queued, change: endTask },
  { name: 'queued tasks', projects: 3, list: queued, change: deleteTask },
]

eachStore((store) => {
  test('a row that changes while a list of several projects is read is left out, and the other rows are not', async () => {
    const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    const { db } = app.ctx
    await seedStore(app.ctx.store, 0, 200)
    const all = (await db.selectFrom('projects').select('id').orderBy('id').execute()).map(({ id }) => id)
    for (const { name, projects, list, change } of LISTS) {
      const projectIds = all.slice(0, projects)
      await spreadOverProjects(db, projectIds)
      const before = (await list(db, projectIds, { limit: 200 })).map(({ id }) => id)
      expect(before.length, name).toBeGreaterThan(3 * LIMIT)

      const changed: string[] = []
      const shown: string[] = []
      for (let cursor: string | undefined; ; ) {
        changeAfterSearch(db, async (id) => {
          changed.push(id)
          await change(db, id)
        })
        const rows = await list(db, projectIds, { limit: LIMIT, cursor })
        shown.push(...rows.slice(0, LIMIT).map(({ id }) => id))
        if (rows.length <= LIMIT) break
        cursor = shown.at(-1)
      }
      expect(shown, name).toEqual(before.filter((id) => !changed.includes(id)))
      expect(changed.length, name).toBeGreaterThan(1)
    }
  })
})

/** Makes all approvals pending and all tasks queued, in these projects in turn. */
async function spreadOverProjects(db: Db, projectIds: readonly string[]): Promise<void> {
  await db.updateTable('approvals').set({ status: 'pending', wedge: 'bench' }).execute()
  await db.updateTable('tasks').set({ status: 'queued', wedge: 'bench' }).execute()
  for (const table of ['approvals', 'tasks'] as const) {
    const rows = await db.selectFrom(table).select('id').orderBy('id').execute()
    for (const [n, project_id] of projectIds.entries()) {
      const ids = rows.map(({ id }) => id).filter((_, row) => row % projectIds.length === n)
      await db.updateTable(table).set({ project_id }).where('id', 'in', ids).execute()
    }
  }
}

/** Changes the newest row that the next search of keys finds, before the rows of these keys are read. */
function changeAfterSearch(db: Db, change: (id: string) => Promise<void>): void {
  const executor = db.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  executor.executeQuery = async <Row>(query: Parameters<typeof execute>[0]) => {
    const result = await execute<Row>(query)
    const [newest] = result.rows as { key0?: string }[]
    if (newest?.key0 !== undefined) {
      executor.executeQuery = execute
      await change(newest.key0)
    }
    return result
  }
}
