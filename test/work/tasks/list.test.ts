import { describe, expect, test } from 'vitest'
import { eachStore, sharedApp, testApp } from '../../app.ts'
import { DESK_WEDGES, expectRefusal, NO_RATE_LIMIT } from './scripted-agent.ts'

const IDLE = { wedge: 'desk', task_type: 'idle' }
type ListedTask = { id: string; wedge: string; status: string }

eachStore((store) => {
  describe('the list of tasks', () => {
    const shared = sharedApp({ store, wedges: DESK_WEDGES, env: NO_RATE_LIMIT })
    const list = async (query = '') => (await shared().call('GET', `/v1/tasks${query}`)).body
    const ids = (tasks: ListedTask[]) => tasks.map(({ id }) => id)
    let newest: string[] = []

    test('the list is empty before the first task', async () => {
      expect(await list()).toEqual({ data: [], next_cursor: null })
    })

    test('the list is newest first, and its entries equal a single read', async () => {
      const app = shared()
      for (let i = 0; i < 230; i += 10) {
        const created = await Promise.all(Array.from({ length: 10 }, () => app.createTask(IDLE)))
        // Tasks of the same millisecond are ordered by id.
        newest = [
          ...ids(created as unknown as ListedTask[])
            .toSorted()
            .toReversed(),
          ...newest,
        ]
        await app.clock.advance(1)
      }
      for (const id of newest.slice(0, 4)) await app.finished(id)
      const { data } = await list('?limit=3')
      expect(ids(data)).toEqual(newest.slice(0, 3))
      expect(data[0]).toEqual((await app.call('GET', `/v1/tasks/${newest[0]}`)).body)
    })

    test('a page has 50 tasks by default and 200 at most', async () => {
      expect(ids((await list()).data)).toEqual(newest.slice(0, 50))
      expect(ids((await list('?limit=201')).data)).toEqual(newest.slice(0, 200))
      expect(ids((await list('?limit=9999999999')).data)).toEqual(newest.slice(0, 200))
    })

    test('the cursor leads through all pages', async () => {
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page: { data: ListedTask[]; next_cursor: string | null } = await list(
          `?limit=46${cursor && `&cursor=${cursor}`}`,
        )
        seen.push(...ids(page.data))
        cursor = page.next_cursor
      }
      expect(seen).toEqual(newest)
      expect((await list(`?limit=200&cursor=${newest[29]}`)).next_cursor).toBeNull()
    })

    test('filters by wedge and status work alone, together and across pages', async () => {
      const app = shared()
      const echo = await app.createTask()
      await app.finished(echo.id)
      expect(ids((await list('?wedge=echo')).data)).toEqual([echo.id])
      expect(ids((await list('?status=succeeded')).data)).toEqual([echo.id])
      expect((await list('?wedge=desk&status=succeeded')).data).toEqual([])
      expect((await list('?wedge=unknown')).data).toEqual([])
      const failed = await list('?status=failed&wedge=desk&limit=2')
      expect(ids(failed.data)).toEqual(newest.slice(0, 2))
      expect(ids((await list(`?status=failed&limit=2&cursor=${failed.next_cursor}`)).data)).toEqual(newest.slice(2, 4))
    })

    test('the order does not depend on the status of the tasks', async () => {
      const { db } = shared().ctx
      const ends = ['succeeded', 'failed', 'rejected', 'expired', 'cancelled'] as const
      const seven = newest.slice(0, 7)
      for (const id of seven) await shared().finished(id)
      for (const [i, id] of seven.entries()) {
        await db
          .updateTable('tasks')
          .set({ status: ends[i % ends.length] ?? 'failed' })
          .where('id', '=', id)
          .execute()
      }
      const after = (await list('?limit=1')).next_cursor
      expect(ids((await list(`?limit=4&cursor=${after}`)).data)).toEqual(seven.slice(0, 4))
      expect(ids((await list(`?limit=3&cursor=${seven[3]}`)).data)).toEqual(seven.slice(4))
    })

    test.each(['limit=0', 'limit=-1', 'limit=1.5', 'limit=ten', 'limit=', 'limit=1e2', 'limit=+5', 'limit=1&limit=2'])(
      '%s returns 400: a limit is a whole number of at least 1',
      async (query) => {
        expectRefusal(await shared().call('GET', `/v1/tasks?${query}`), 400, /limit/)
      },
    )

    test.each(['status=done', 'status=', 'status=validating', 'status=Queued', 'cursor=', 'cursor=%27or%201=1'])(
      '%s returns 400',
      async (query) => {
        expectRefusal(await shared().call('GET', `/v1/tasks?${query}`), 400)
      },
    )

    test('a member lists the tasks of all projects of the organisation in one order', async () => {
      const app = await testApp({ store, wedges: DESK_WEDGES, env: NO_RATE_LIMIT })
      const account = { email: 'owner@example.com', password: 'correct horse battery' }
      const key = (await app.call('POST', '/v1/auth/signup', account)).body.session_token
      await app.call('POST', '/v1/projects', { name: 'Second' }, { key })
      const projects = (await app.call('GET', '/v1/projects', undefined, { key })).body.data
      expect(projects).toHaveLength(2)
      const created: string[] = []
      for (let i = 0; i < 9; i++) {
        const headers = { 'x-svc-project': projects[i % 3 === 0 ? 0 : 1].id }
        created.unshift((await app.call('POST', '/v1/tasks', IDLE, { key, headers })).body.id)
        await app.clock.advance(1)
      }
      const seen: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const path: string = `/v1/tasks?limit=2${cursor && `&cursor=${cursor}`}`
        const { body } = await app.call('GET', path, undefined, { key })
        seen.push(...ids(body.data))
        cursor = body.next_cursor
      }
      expect(seen).toEqual(created)
    })
  })
})
