import { expect, test } from 'vitest'
import { RunLog, type SaveEntries } from '../../../../src/execution/runs/session/run-log.ts'
import type { Ctx } from '../../../../src/platform/ctx/ctx.ts'
import { RunEndedError } from '../../../../src/work/events/append-events.ts'
import type { NewEvent } from '../../../../src/work/events/event-types.ts'
import { openModelProxy } from '../../models/model-proxy.ts'

const progress = (text: string): NewEvent => ({ type: 'progress', data: { text } })

const storedTexts = async ({ db }: Pick<Ctx, 'db'>): Promise<string[]> => {
  const rows = await db.selectFrom('events').select('data').where('type', '=', 'progress').orderBy('seq').execute()
  return rows.map(({ data }) => JSON.parse(data).text)
}

/** The log of a run whose first event waits a minute for others. */
async function openLog({ epoch = 1, save = async () => {} }: { epoch?: number; save?: SaveEntries } = {}) {
  const { ctx } = await openModelProxy({})
  return { ctx, log: new RunLog(ctx, { taskId: 'task_1', epoch }, save, () => 60_000) }
}

test('a flush stores all events at once, in order, and then the entries of the transcript', async () => {
  const before: string[][] = []
  const { ctx, log } = await openLog({
    save: async (tx, entries) =>
      void before.push(
        await storedTexts(tx),
        entries.map(({ by }) => by),
      ),
  })
  log.push(progress('one'), 10)
  log.push(progress('two'), 10)
  log.record({ by: 'user', text: 'hello' }, 5)
  expect([log.backlog, await storedTexts(ctx)]).toEqual([25, []])
  await log.flush()
  expect(before).toEqual([['one', 'two'], ['user']])
  expect([log.backlog, await storedTexts(ctx)]).toEqual([0, ['one', 'two']])
})

test('a change of the state is stored without an event', async () => {
  let saves = 0
  const { log } = await openLog({ save: async () => void saves++ })
  log.markChanged()
  log.markChanged()
  await log.flush()
  expect(saves).toBe(1)
})

test('a log that is closed returns what it has not stored, and flushes nothing more', async () => {
  const { ctx, log } = await openLog()
  log.push(progress('last'), 10)
  expect(await log.close()).toEqual({ events: [progress('last')], entries: [] })
  await log.flush()
  expect(await storedTexts(ctx)).toEqual([])
})

test('the log fails when the task has another epoch by now', async () => {
  const { log } = await openLog({ epoch: 2 })
  log.push(progress('late'), 10)
  await log.flush()
  expect(await log.failed).toBeInstanceOf(RunEndedError)
})
