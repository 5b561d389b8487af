import { verify } from 'node:crypto'
import {
  type ChainEntry,
  type ChainHead,
  type ChainPage,
  type Checkpoint,
  exportEndText,
  GENESIS_HASH,
  publicKeyId,
  type SealedEntry,
  sealEntry,
  type TrustedKeys,
  toTrustedKeys,
  type ChainVerdict,
  verifyChain,
} from './audit-chain.ts'
import { tryParseJsonObject } from '../../base/json-fields.ts'
import { canonicalJson, isJsonObject, type JsonObject } from '../../base/json.ts'

/** The result for a file by itself; the reader has to decide whether to trust its keys. */
export interface AuditExportVerdict extends ChainVerdict {
  chain: string
  /** The ids of the keys in the file; the service logs the id of its own key, so compare `signed_by` with that. */
  kids: string[]
  /** The time of the export, from its signed end; null without a valid one. */
  exported_at: string | null
}

/** Verifies an export of the audit chain line by line, without the service. */
export async function verifyAuditExport(lines: AsyncIterable<string>): Promise<AuditExportVerdict> {
  const rest = parseLines(lines)
  const { value: first } = await rest.next()
  const { chain, head, keys } = parseHeader(first?.value)
  const trusted = toTrustedKeys(keys)
  const last: LastLine = { end: null }
  const chainVerdict = await verifyChain(toPages(rest, last), { chain, head, trusted })
  const end = chainVerdict.ok ? signedEnd(last.end, chain, head, trusted) : null
  const verdict = chainVerdict.ok ? requireSignedEnd(chainVerdict, end) : chainVerdict
  return { ...verdict, chain, kids: keys.map(publicKeyId), exported_at: end?.at ?? null }
}

/** The end line, known when all lines were read. */
interface LastLine {
  end: Checkpoint | null
}

/** The end line, if a key of the file has signed that the chain ended here; else null. */
function signedEnd(end: Checkpoint | null, chain: string, head: ChainHead | null, trusted: TrustedKeys) {
  const key = end && trusted.get(end.kid)
  const { seq, hash } = head ?? { seq: 0, hash: GENESIS_HASH }
  if (!end || !key || end.chain !== chain || end.seq !== seq || end.hash !== hash) return null
  return verify(null, exportEndText(end), key, Buffer.from(end.signature, 'base64')) ? end : null
}

/** Anyone can compute hashes, so entries after the last signature may have been removed or rewritten. */
function requireSignedEnd(verdict: ChainVerdict, end: Checkpoint | null): ChainVerdict {
  if (end) return { ...verdict, anchored_to: end.seq, signed_by: end.kid }
  const problem = 'the end is not signed, so entries may have been removed or rewritten'
  return { ...verdict, ok: false, first_bad_seq: (verdict.anchored_to ?? 0) + 1, problem }
}

const PAGE_ENTRIES = 1000

/** A page ends before an entry, so a checkpoint is always in the page of its entry. */
async function* toPages(lines: AsyncIterable<ExportLine>, last: LastLine): AsyncGenerator<ChainPage> {
  let entries: SealedEntry[] = []
  let checkpoints: Checkpoint[] = []
  for await (const { n, value } of lines) {
    if (last.end) throw new Error(`line ${n} comes after the end of the export`)
    if (value.kind === 'end') {
      last.end = parseCheckpoint(value)
      continue
    }
    if (value.kind === 'checkpoint') {
      checkpoints.push(parseCheckpoint(value))
      continue
    }
    if (value.kind !== 'entry') throw malformedLine(n)
    if (entries.length >= PAGE_ENTRIES) {
      yield { entries, checkpoints }
      entries = []
      checkpoints = []
    }
    entries.push(sealEntry(parseEntry(value)))
  }
  yield { entries, checkpoints }
}

interface ExportLine {
  n: number
  value: JsonObject
}

async function* parseLines(lines: AsyncIterable<string>): AsyncGenerator<ExportLine, undefined> {
  let n = 0
  for await (const text of lines) {
    n++
    if (text.trim() !== '') yield { n, value: parseLine(text, n) }
  }
}

function parseLine(text: string, n: number): JsonObject {
  const value = tryParseJsonObject(text)
  if (!value) throw malformedLine(n)
  return value
}

const malformedLine = (n: number) => new Error(`line ${n} is not a line of an audit export`)

function parseHeader(value: JsonObject | undefined): { chain: string; head: ChainHead | null; keys: Buffer[] } {
  if (value?.kind !== 'chain') throw malformedLine(1)
  const { chain, head, keys } = value
  const texts = Array.isArray(keys) ? keys.map(toText) : []
  return {
    chain: toText(chain),
    head: isJsonObject(head) ? { seq: toInteger(head.seq), hash: toText(head.hash) } : null,
    keys: texts.map((key) => Buffer.from(key, 'base64')),
  }
}

function parseEntry({ seq, ts, actor, action, subject, data, prev_hash, hash }: JsonObject): ChainEntry {
  const { kind, id } = isJsonObject(actor) ? actor : {}
  return {
    seq: toInteger(seq),
    ts: toText(ts),
    actor: { kind: toText(kind), id: toText(id) },
    action: toText(action),
    subject: toText(subject),
    data: canonicalJson(data ?? null),
    prev_hash: toText(prev_hash),
    hash: toText(hash),
  }
}

function parseCheckpoint({ chain, seq, hash, at, kid, signature }: JsonObject): Checkpoint {
  return {
    chain: toText(chain),
    seq: toInteger(seq),
    hash: toText(hash),
    at: toText(at),
    kid: toText(kid),
    signature: toText(signature),
  }
}

/** A field of a wrong type becomes empty; the hash then does not match and reveals it. */
const toText = (value: unknown) => (typeof value === 'string' ? value : '')
const toInteger = (value: unknown) => (typeof value === 'number' && Number.isSafeInteger(value) ? value : 0)
