import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { LOOK_UP_COMMIT_MARK, WRITE_COMMIT_MARK } from '../../../src/platform/store/postgres/commit-mark.ts'
import { createMigratedDatabase, releaseMigratedDatabase } from '../../stores.ts'

async function openClients(): Promise<{ writer: pg.Client; reader: pg.Client; observer: pg.Client }> {
  const url = await createMigratedDatabase()
  const [writer, reader, observer] = [new pg.Client(url), new pg.Client(url), new pg.Client(url)]
  const clients = [writer, reader, observer]
  await Promise.all(clients.map((client) => client.connect()))
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.end()))
    await releaseMigratedDatabase(url)
  })
  return { writer, reader, observer }
}

const write = (client: pg.Client, number: number) => client.query(WRITE_COMMIT_MARK, ['c', number, 'now'])
const lookUp = async (client: pg.Client, number: number) =>
  Number((await client.query(LOOK_UP_COMMIT_MARK, ['c', number + 1, 'now'])).rows[0]?.number) === number

test('the outcome of a commit is looked up after it has ended, also the first one of a connection', async () => {
  const { writer, reader, observer } = await openClients()
  for (const number of [2, 4]) {
    await writer.query('begin')
    await write(writer, number)
    const committed = lookUp(reader, number)
    // Not by the writer: PostgreSQL shows a transaction the same pg_stat_activity until it ends.
    const isWaiting = async () =>
      (
        await observer.query(
          `select 1 from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query like '%commit_marks%'`,
        )
      ).rows.length
    await expect.poll(isWaiting).toBe(1)
    await writer.query('commit')
    expect(await committed).toBe(true)
    expect(await lookUp(reader, number)).toBe(true)
  }
})

test('a transaction that was looked up before it wrote its mark cannot commit any more', async () => {
  const { writer, reader } = await openClients()
  await write(writer, 2)
  for (const number of [4, 6]) {
    expect(await lookUp(reader, number)).toBe(false)
    expect(await lookUp(reader, number)).toBe(false)
    await expect(write(writer, number)).rejects.toThrow('division by zero')
  }
  await write(writer, 8)
  expect(await lookUp(reader, 8)).toBe(true)
})
