import { setImmediate } from 'node:timers/promises'
import { type ChainEntry, type ChainPage, type Checkpoint, type SealedEntry, sealEntry } from '../base/audit-chain.ts'
import type { Db } from '../store/store.ts'
import { FIELD, type JoinedEntries, readCheckpoints, readEntries, readSealed } from './walk-rows.ts'

/** Few enough that a request never waits long behind one page. */
const PAGE = 1000

export interface Stretch {
  chain: string
  /** The entry before the first one. */
  after: number
  upTo: number
  /** The newest checkpoint to look at. */
  checkpointsUpTo: number
}

export interface EntryPage {
  entries: ChainEntry[]
  checkpoints: Checkpoint[]
}

/** A stretch of the chain to be shown. */
export const entryPages = (db: Db, stretch: Stretch): AsyncGenerator<EntryPage> => pages(db, stretch, entriesOf)

/** A stretch of the chain to be checked. */
export const sealedPages = (db: Db, stretch: Stretch): AsyncGenerator<ChainPage> => pages(db, stretch, sealedOf)

type PageOf = Parameters<typeof readEntries>[1]

/** Page by page; other requests are served between them. */
async function* pages<Entry extends { seq: number }>(
  db: Db,
  { chain, after, upTo, checkpointsUpTo }: Stretch,
  read: (db: Db, page: PageOf) => Promise<Entry[]>,
): AsyncGenerator<{ entries: Entry[]; checkpoints: Checkpoint[] }> {
  for (let from = after; ; ) {
    const entries = await read(db, { chain, after: from, upTo, limit: PAGE })
    const last = entries.length < PAGE
    const to = last ? checkpointsUpTo : Math.min(entries.at(-1)?.seq ?? from, checkpointsUpTo)
    const checkpoints = to > from ? await readCheckpoints(db, { chain, after: from, upTo: to }) : []
    yield { entries, checkpoints }
    if (last) return
    from = entries.at(-1)?.seq ?? from
    await setImmediate()
  }
}

async function entriesOf(db: Db, page: PageOf): Promise<ChainEntry[]> {
  const rows = await readEntries(db, page)
  return rows.map(({ actor_kind: kind, actor_id: id, ...row }) => ({ ...row, actor: { kind, id } }))
}

async function sealedOf(db: Db, page: PageOf): Promise<SealedEntry[]> {
  const { chain, after, upTo, limit } = page
  const to = Math.min(after + limit, upTo)
  const [joined] = to > after ? await readSealed(db, { chain, after, to }) : []
  const sealed = joined?.n === to - after ? split(joined, after) : null
  // A number is missing: somebody took an entry away, and how far the next one is can only be found by looking.
  return sealed ?? (await entriesOf(db, page)).map(sealEntry)
}

/** Null when a field needs an escape or holds a separator: then the fields must be read. */
function split({ n, quoted, text }: JoinedEntries, after: number): SealedEntry[] | null {
  const fields = text?.split(FIELD) ?? []
  if (fields.length !== 3 * n || !PLAIN.test(quoted ?? '')) return null
  const entries: SealedEntry[] = []
  for (let seq = after + 1, at = 0; seq <= after + n; seq++, at += 3) {
    entries.push({ seq, prev_hash: fields[at] ?? '', hash: fields[at + 1] ?? '', sealed: fields[at + 2] ?? '' })
  }
  return entries
}

/** JSON quotes these characters as they are. */
const PLAIN = /^[ !#-[\]-~]*$/
