import { Client } from 'pg'
import { expect, test } from 'vitest'
import {
  createDatabase,
  createDatabaseOn,
  createPostgres,
  dropDatabase,
  killPostgres,
  removePostgres,
  startPostgres,
  stopPostgres,
} from './postgres.ts'

test('a copied database has the rows of its template, and later changes affect only one of them', async () => {
  const first = await createDatabase()
  await query(first, 'create table notes as select 1 as id')
  const second = await createDatabase(first)
  await query(second, 'insert into notes values (2)')
  expect(await query(first, 'select id from notes')).toEqual([{ id: 1 }])
  expect(await query(second, 'select id from notes order by id')).toEqual([{ id: 1 }, { id: 2 }])
  await dropDatabase(second)
  await expect(query(second, 'select 1')).rejects.toThrow('does not exist')
})

test('a server that was stopped or killed has all committed rows after a start', async () => {
  const server = await createPostgres()
  try {
    const database = await createDatabaseOn(server.url)
    await query(database, 'create table notes as select 1 as id')
    await stopPostgres(server)
    await startPostgres(server)
    await query(database, 'insert into notes values (2)')
    await killPostgres(server)
    await expect(query(database, 'select 1')).rejects.toThrow()
    await startPostgres(server)
    expect(await query(database, 'select id from notes order by id')).toEqual([{ id: 1 }, { id: 2 }])
  } finally {
    await removePostgres(server)
  }
})

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
