import { setImmediate } from 'node:timers/promises'
import type { ChainEntry, ChainPage } from '../base/audit-chain.ts'
import type { Db } from '../store/store.ts'
import { FIELD, LINE, readCheckpoints, readEntries, readEntriesAsText } from './rows.ts'

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

/** A stretch of the chain, page by page; other requests are served between them. */
export async function* chainPages(db: Db, { chain, after, upTo, checkpointsUpTo }: Stretch): AsyncGenerator<ChainPage> {
  for (let from = after; ; ) {
    const entries = await pageOfEntries(db, { chain, after: from, upTo, limit: PAGE })
    const last = entries.length < PAGE
    const to = last ? checkpointsUpTo : Math.min(entries.at(-1)?.seq ?? from, checkpointsUpTo)
    const checkpoints = to > from ? await readCheckpoints(db, { chain, after: from, upTo: to }) : []
    yield { entries, checkpoints }
    if (last) return
    from = entries.at(-1)?.seq ?? from
    await setImmediate()
  }
}

async function pageOfEntries(db: Db, page: Parameters<typeof readEntries>[1]): Promise<ChainEntry[]> {
  const [joined] = await readEntriesAsText(db, page)
  const entries = joined ? split(joined.text ?? '', joined.n) : null
  return entries ?? (await readEntries(db, page)).map(entryOf)
}

/** Null when a separator stands inside of a field: then the rows themselves must be read. */
function split(text: string, rows: number): ChainEntry[] | null {
  if (rows === 0) return []
  const lines = text.split(LINE)
  if (lines.length !== rows) return null
  const entries: ChainEntry[] = []
  for (const line of lines) {
    const fields = line.split(FIELD)
    if (fields.length !== 9) return null
    const [seq, ts = '', kind = '', id = '', action = '', subject = '', data = '', prev_hash = '', hash = ''] = fields
    entries.push({ seq: Number(seq), ts, actor: { kind, id }, action, subject, data, prev_hash, hash })
  }
  return entries
}

type Row = Awaited<ReturnType<typeof readEntries>>[number]

function entryOf({ seq, ts, actor_kind, actor_id, action, subject, data, prev_hash, hash }: Row): ChainEntry {
  return { seq, ts, actor: { kind: actor_kind, id: actor_id }, action, subject, data, prev_hash, hash }
}
