import { createHash } from 'node:crypto'
import { manyRows } from './dialect.ts'
import type { Db } from './store.ts'

/**
 * Writes the shape of every record into the index of fields, for the migration that brought shapes. It says for good
 * what a shape and a shelf were then, so it shares no code with the feature.
 */
export async function fillShapes(db: Db): Promise<void> {
  for (let after = ''; ; ) {
    const records = await db
      .selectFrom('records')
      .select(['id', 'project_id', 'wedge', 'collection'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE)
      .execute()
    const last = records.at(-1)
    if (!last) return
    const paths = await pathsBetween(db, after, last.id)
    await insertFields(
      db,
      records.map(({ id, project_id, wedge, collection }) => {
        const shape = digest((paths.get(id) ?? []).toSorted().join('\n'))
        return [id, digest(`${project_id}\0${collection}`), wedge, '', shape]
      }),
    )
    after = last.id
  }
}

const PAGE = 1000
const insertFields = manyRows('record_fields', ['record_id', 'shelf', 'wedge', 'path', 'sort_key'])
const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16)

async function pathsBetween(db: Db, after: string, upTo: string): Promise<Map<string, string[]>> {
  const fields = await db
    .selectFrom('record_fields')
    .select(['record_id', 'path'])
    .where('record_id', '>', after)
    .where('record_id', '<=', upTo)
    .execute()
  const paths = new Map<string, string[]>()
  for (const { record_id, path } of fields) {
    const known = paths.get(record_id)
    if (known) known.push(path)
    else paths.set(record_id, [path])
  }
  return paths
}
