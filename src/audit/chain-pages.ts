import {
  type ChainEntry,
  type ChainPage,
  type Checkpoint,
  type SealedEntry,
  sealEntry,
} from '../platform/contract/audit/audit-chain.ts'
import type { Db } from '../platform/store/store.ts'
import {
  FIELD_SEPARATOR,
  type JoinedEntries,
  listCheckpoints,
  listChainEntries,
  findJoinedEntries,
} from './chain-rows.ts'

/** Small enough that the other requests never wait long while a page is hashed. */
const PAGE_ENTRIES = 1000

export interface ChainRange {
  chain: string
  /** The number of the entry before the first one. */
  after: number
  upTo: number
  /** The entry of the newest checkpoint to read. */
  checkpointsUpTo: number
}

export interface AuditEntryPage {
  entries: ChainEntry[]
  checkpoints: Checkpoint[]
}

/** The entries with all fields, for an export. */
export const readEntryPages = (db: Db, range: ChainRange): AsyncGenerator<AuditEntryPage> =>
  readPages(db, range, readEntryPage)

/** The entries in the form that verification hashes. */
export const readSealedPages = (db: Db, range: ChainRange): AsyncGenerator<ChainPage> =>
  readPages(db, range, readSealedPage)

type PageRequest = Parameters<typeof listChainEntries>[1]

async function* readPages<Entry extends { seq: number }>(
  db: Db,
  { chain, after, upTo, checkpointsUpTo }: ChainRange,
  read: (db: Db, page: PageRequest) => Promise<Entry[]>,
): AsyncGenerator<{ entries: Entry[]; checkpoints: Checkpoint[] }> {
  for (let from = after; ; ) {
    const entries = await read(db, { chain, after: from, upTo, limit: PAGE_ENTRIES })
    const last = entries.length < PAGE_ENTRIES
    const to = last ? checkpointsUpTo : Math.min(entries.at(-1)?.seq ?? from, checkpointsUpTo)
    const checkpoints = to > from ? await listCheckpoints(db, { chain, after: from, upTo: to }) : []
    yield { entries, checkpoints }
    if (last) return
    from = entries.at(-1)?.seq ?? from
  }
}

async function readEntryPage(db: Db, page: PageRequest): Promise<ChainEntry[]> {
  const rows = await listChainEntries(db, page)
  return rows.map(({ actor_kind: kind, actor_id: id, ...row }) => ({ ...row, actor: { kind, id } }))
}

async function readSealedPage(db: Db, page: PageRequest): Promise<SealedEntry[]> {
  const { chain, after, upTo, limit } = page
  const to = Math.min(after + limit, upTo)
  const [joined] = to > after ? await findJoinedEntries(db, { chain, after, to }) : []
  const sealed = joined?.n === to - after ? splitJoinedEntries(joined, after) : null
  // A number is missing, so an entry was deleted: read the rows to find the next one.
  return sealed ?? (await readEntryPage(db, page)).map(sealEntry)
}

/** Null when a field contains a separator or needs JSON escapes: then the rows must be read one by one. */
function splitJoinedEntries({ n, quoted, text }: JoinedEntries, after: number): SealedEntry[] | null {
  const fields = text?.split(FIELD_SEPARATOR) ?? []
  if (fields.length !== 3 * n || !NEEDS_NO_ESCAPE.test(quoted ?? '')) return null
  const entries: SealedEntry[] = []
  for (let seq = after + 1, at = 0; seq <= after + n; seq++, at += 3) {
    entries.push({ seq, prev_hash: fields[at] ?? '', hash: fields[at + 1] ?? '', sealed: fields[at + 2] ?? '' })
  }
  return entries
}

/** Characters that JSON does not escape. */
const NEEDS_NO_ESCAPE = /^[ !#-[\]-~]*$/
