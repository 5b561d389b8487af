import { expect, test } from 'vitest'
import { seedStore } from '../../../bench/seed/seed-store.ts'
import { eachStore, testApp, type TestApp } from '../../app.ts'

/** More threads than one request of a search compares: every tenth task has one, and 9 of 16 are in the first project. */
const SEEDED = 30_000

interface ListedRow {
  id: string
  seq: number
  action: string
}

/** All rows of a list, and how many pages it had. */
async function readAllPages(app: TestApp, path: string): Promise<{ rows: ListedRow[]; pages: number }> {
  const rows: ListedRow[] = []
  let cursor: string | null = ''
  let pages = 0
  for (; cursor !== null; pages++) {
    const { status, body } = await app.call('GET', `${path}${cursor}`)
    expect(status).toBe(200)
    rows.push(...body.data)
    cursor = body.next_cursor && `&cursor=${encodeURIComponent(body.next_cursor)}`
  }
  return { rows, pages }
}

eachStore((store) => {
  test('many rows: searches and filters find the same rows in pages as one query finds', async () => {
    const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    await seedStore(app.ctx.store, 0, SEEDED)
    const { db } = app.ctx
    const project = await db.selectFrom('projects').select('id').orderBy('created_at').executeTakeFirstOrThrow()

    const threads = await db.selectFrom('threads').select('id').where('project_id', '=', project.id).execute()
    const oldest = threads.map(({ id }) => id).toSorted()[1] ?? ''
    await db.updateTable('threads').set({ subject: 'A needle in the hay' }).where('id', '=', oldest).execute()
    for (const order of ['created', 'activity']) {
      const { rows, pages } = await readAllPages(app, `/v1/threads?order=${order}&q=NEEDLE`)
      expect(rows.map(({ id }) => id)).toEqual([oldest])
      expect(pages).toBeGreaterThan(1)
    }

    const expired = await db
      .selectFrom('tasks')
      .select(['id', 'finished_at'])
      .where('project_id', '=', project.id)
      .where('status', '=', 'expired')
      .orderBy('id', 'desc')
      .execute()
    const since = expired[20]?.finished_at ?? ''
    const list = await readAllPages(app, `/v1/tasks?expired_since=${since}&limit=7`)
    expect(list.rows.map(({ id }) => id)).toEqual(
      expired.filter(({ finished_at }) => (finished_at ?? '') >= since).map(({ id }) => id),
    )
  })

  test('the audit log finds actions and subjects by an index, in pages', async () => {
    const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    await seedStore(app.ctx.store, 0, 2_000)
    const { db } = app.ctx
    const paths = ['action=approval.approved', 'subject=task_00000000000000100000000333']
    const read = () => Promise.all(paths.map((path) => readAllPages(app, `/v1/audit?${path}&limit=9`)))
    const lists = await read()
    expect(lists.map(({ rows }) => rows.length)).toEqual([20, 1])
    const all = await db.selectFrom('audit_entries').selectAll().execute()
    const ofAction = all.filter(({ action }) => action === 'approval.approved').map(({ seq }) => seq)
    expect(lists[0]?.rows.map(({ seq }) => seq)).toEqual(ofAction.toSorted((a, b) => b - a))

    const { id } = await app.createTask()
    const found = await readAllPages(app, `/v1/audit?subject=${id}`)
    expect(found.rows.map(({ action }) => action)).toEqual(['task.created'])
    const range = await readAllPages(app, '/v1/audit?action=approval.approved&from_seq=500&to_seq=1100&limit=2')
    expect(range.rows.map(({ seq }) => seq)).toEqual(
      lists[0]?.rows.map(({ seq }) => seq).filter((seq) => seq >= 500 && seq <= 1100),
    )
  })
})
