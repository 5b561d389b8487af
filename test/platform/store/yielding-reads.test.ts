import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachStore, testApp } from '../../app.ts'

const READS = 30
const SLOW_READ = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) select count(*) from n`

eachStore((store) => {
  test('other requests get their turn between the reads of one request', async () => {
    const { db } = (await testApp({ store })).ctx
    let turns = 0
    const countTurn = () => {
      turns++
      timer = setImmediate(countTurn)
    }
    let timer = setImmediate(countTurn)
    for (let read = 0; read < READS; read++) await SLOW_READ.execute(db)
    clearImmediate(timer)
    expect(turns).toBeGreaterThan(READS / 6)
  })
})
