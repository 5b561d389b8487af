import { verify } from 'node:crypto'
import {
  type ChainEntry,
  type ChainHead,
  type ChainPage,
  type Checkpoint,
  endText,
  GENESIS,
  keyId,
  type SealedEntry,
  sealEntry,
  type TrustedKeys,
  trustedKeys,
  type Verdict,
  verifyChain,
} from './audit-chain.ts'
import { objectIn } from './fields.ts'
import { canonical, isJsonObject, type JsonObject } from './json.ts'

/** What a file says of itself; whether to believe its key is for the reader to say. */
export interface ExportVerdict extends Verdict {
  chain: string
  /** The ids of the keys that the file names: compare the one that signed with those that the service's log names. */
  kids: string[]
  /** When the file was written, as its end says; null when it has no end to believe. */
  exported_at: string | null
}

/** Checks an export of the audit chain by itself, line by line, without the service. */
export async function verifyExport(lines: AsyncIterable<string>): Promise<ExportVerdict> {
  const rest = numbered(lines)
  const { value: first } = await rest.next()
  const { chain, head, keys } = headerOf(first?.value)
  const trusted = trustedKeys(keys)
  const last: Last = { end: null }
  const walked = await verifyChain(pagesOf(rest, last), { chain, head, trusted })
  const end = walked.ok ? signedEnd(last.end, chain, head, trusted) : null
  const verdict = walked.ok ? ended(walked, end) : walked
  return { ...verdict, chain, kids: keys.map(keyId), exported_at: end?.at ?? null }
}

/** What the last line says, known when all lines were read. */
interface Last {
  end: Checkpoint | null
}

/** Null unless a key that the file names has signed that this chain ended here when the file was written. */
function signedEnd(end: Checkpoint | null, chain: string, head: ChainHead | null, trusted: TrustedKeys) {
  const key = end && trusted.get(end.kid)
  const { seq, hash } = head ?? { seq: 0, hash: GENESIS }
  if (!end || !key || end.chain !== chain || end.seq !== seq || end.hash !== hash) return null
  return verify(null, endText(end), key, Buffer.from(end.signature, 'base64')) ? end : null
}

/** Hashes alone anybody can compute: what is not signed to its end may have been cut or written anew. */
function ended(walked: Verdict, end: Checkpoint | null): Verdict {
  if (end) return { ...walked, anchored_to: end.seq, signed_by: end.kid }
  const problem = 'its end is not signed, so entries may have been cut off or written anew'
  return { ...walked, ok: false, first_bad_seq: (walked.anchored_to ?? 0) + 1, problem }
}

const PAGE = 1000

/** A page ends before an entry, so a checkpoint is always in the page of the entry that it follows. */
async function* pagesOf(lines: AsyncIterable<Line>, last: Last): AsyncGenerator<ChainPage> {
  let entries: SealedEntry[] = []
  let checkpoints: Checkpoint[] = []
  for await (const { n, value } of lines) {
    if (last.end) throw new Error(`line ${n} stands behind the end of the export`)
    if (value.kind === 'end') {
      last.end = checkpointOf(value)
      continue
    }
    if (value.kind === 'checkpoint') {
      checkpoints.push(checkpointOf(value))
      continue
    }
    if (value.kind !== 'entry') throw malformed(n)
    if (entries.length >= PAGE) {
      yield { entries, checkpoints }
      entries = []
      checkpoints = []
    }
    entries.push(sealEntry(entryOf(value)))
  }
  yield { entries, checkpoints }
}

interface Line {
  n: number
  value: JsonObject
}

async function* numbered(lines: AsyncIterable<string>): AsyncGenerator<Line, undefined> {
  let n = 0
  for await (const text of lines) {
    n++
    if (text.trim() !== '') yield { n, value: parsed(text, n) }
  }
}

function parsed(text: string, n: number): JsonObject {
  const value = objectIn(text)
  if (!value) throw malformed(n)
  return value
}

const malformed = (n: number) => new Error(`line ${n} is not a line of an audit export`)

function headerOf(value: JsonObject | undefined): { chain: string; head: ChainHead | null; keys: Buffer[] } {
  if (value?.kind !== 'chain') throw malformed(1)
  const { chain, head, keys } = value
  const texts = Array.isArray(keys) ? keys.map(text) : []
  return {
    chain: text(chain),
    head: isJsonObject(head) ? { seq: whole(head.seq), hash: text(head.hash) } : null,
    keys: texts.map((key) => Buffer.from(key, 'base64')),
  }
}

function entryOf({ seq, ts, actor, action, subject, data, prev_hash, hash }: JsonObject): ChainEntry {
  const { kind, id } = isJsonObject(actor) ? actor : {}
  return {
    seq: whole(seq),
    ts: text(ts),
    actor: { kind: text(kind), id: text(id) },
    action: text(action),
    subject: text(subject),
    data: canonical(data ?? null),
    prev_hash: text(prev_hash),
    hash: text(hash),
  }
}

function checkpointOf({ chain, seq, hash, at, kid, signature }: JsonObject): Checkpoint {
  return {
    chain: text(chain),
    seq: whole(seq),
    hash: text(hash),
    at: text(at),
    kid: text(kid),
    signature: text(signature),
  }
}

/** A field of another kind than it should be cannot have the hash that it claims, and is found by that. */
const text = (value: unknown) => (typeof value === 'string' ? value : '')
const whole = (value: unknown) => (typeof value === 'number' && Number.isSafeInteger(value) ? value : 0)
