import { describe, expect, test } from 'vitest'
import { anyStore } from '../../../app.ts'
import {
  answer,
  askClient,
  askTeam,
  type QuestionApp,
  sharedQuestionApp,
} from '../../../approvals/requests/question-app.ts'

anyStore((store) => {
  describe('a run that waits for an answer', () => {
    const app = sharedQuestionApp(store)

    test.each([
      ['the team', askTeam],
      ['the client', (from: QuestionApp) => askClient(from, 'ada@example.com')],
    ])('of %s leaves its cell, and its agent gets the answer once', async (_, ask) => {
      const { id, approval } = await ask(app())
      await parked(app(), id)
      const value = approval.preview.options?.[0] ?? 'because'
      expect((await answer(app(), approval, value)).status).toBe(200)
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { got: { answer: value } } })
      const events = await app().events(id)
      const count = (type: string) => events.filter(({ event }) => event === type).length
      expect([
        count('approval.requested'),
        count('approval.resolved'),
        count('tool.called'),
        count('tool.result'),
      ]).toEqual([1, 1, 1, 1])
      expect(events.flatMap(({ data }) => data.data.state ?? [])).toEqual(['parked', 'resumed'])
      expect(await stateRows(app(), id)).toEqual([])
    })

    test('continues without an answer after a reject', async () => {
      const { id, approval } = await askTeam(app())
      await parked(app(), id)
      await app().call('POST', `/v1/approvals/${approval.approval_id}/reject`)
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { got: { answered: false } } })
      expect(await stateRows(app(), id)).toEqual([])
    })

    test('ends by a cancel without a cell', async () => {
      const { id } = await askTeam(app())
      await parked(app(), id)
      await app().call('POST', `/v1/tasks/${id}/cancel`)
      expect(await app().finished(id)).toMatchObject({ status: 'rejected' })
      expect(await stateRows(app(), id)).toEqual([])
    })
  })
})

/** Waits until the run has left its cell. */
async function parked(app: QuestionApp, id: string): Promise<void> {
  await expect
    .poll(async () => {
      await app.clock.advance(1_000)
      return (await app.ctx.db.selectFrom('tasks').select('replica').where('id', '=', id).execute())[0]?.replica
    })
    .toBeNull()
}

const stateRows = (app: QuestionApp, id: string) =>
  app.ctx.db.selectFrom('run_states').selectAll().where('task_id', '=', id).execute()
