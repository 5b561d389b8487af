import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'

/**
 * The audit chain as it can be checked by anyone who has its lines: the service over its rows, the command line over
 * an export. Knows no store and no clock.
 */
export interface ChainEntry {
  seq: number
  ts: string
  actor: { kind: string; id: string }
  action: string
  subject: string
  /** Canonical JSON (RFC 8785). Kept as text, so that every changed byte is seen and nothing is parsed to be hashed. */
  data: string
  prev_hash: string
  hash: string
}

/** Says, signed, which hash the chain had at an entry. */
export interface Checkpoint {
  chain: string
  seq: number
  hash: string
  at: string
  kid: string
  signature: string
}

export interface ChainHead {
  seq: number
  hash: string
}

/** As much of an entry as it takes to check it. */
export interface SealedEntry {
  seq: number
  prev_hash: string
  hash: string
  /** What the hash is of: the canonical JSON (RFC 8785) of the entry without its hash. */
  sealed: string
}

/** A stretch of the chain in its order, with the checkpoints of the entries in it; the last may name later ones. */
export interface ChainPage {
  entries: readonly SealedEntry[]
  checkpoints: readonly Checkpoint[]
}

export interface ChainVerdict {
  ok: boolean
  /** How many entries were looked at before the answer was known. */
  entries: number
  /** The hash of the newest entry that holds; null for a chain that has none. */
  head: string | null
  first_bad_seq: number | null
  problem: string | null
  /** The newest entry that a checkpoint with a good signature vouches for. */
  anchored_to: number | null
  /** The id of the key of that signature. */
  signed_by: string | null
  checkpoints: { signed: number; not_verifiable: number }
}

/** Before the first entry there is nothing to chain to. */
export const GENESIS_HASH = '0'.repeat(64)

/** Chains an entry to the one before. */
export function entryHash(entry: Omit<ChainEntry, 'hash'>): string {
  return hashSealedText(sealedText(entry))
}

export function sealEntry(entry: ChainEntry): SealedEntry {
  const { seq, prev_hash, hash } = entry
  return { seq, prev_hash, hash, sealed: sealedText(entry) }
}

const hashSealedText = (sealed: string) => hash('sha256', sealed, 'hex')

/** The keys stand in the order that RFC 8785 gives. */
function sealedText({ action, actor, data, prev_hash, seq, subject, ts }: Omit<ChainEntry, 'hash'>): string {
  const who = `{"id":${JSON.stringify(actor.id)},"kind":${JSON.stringify(actor.kind)}}`
  const what = `{"action":${JSON.stringify(action)},"actor":${who},"data":${data}`
  const after = `"prev_hash":${JSON.stringify(prev_hash)},"seq":${seq}`
  return `${what},${after},"subject":${JSON.stringify(subject)},"ts":${JSON.stringify(ts)}}`
}

/** What a checkpoint's signature covers. */
export function checkpointText({ chain, seq, hash, at }: Omit<Checkpoint, 'kid' | 'signature'>): Buffer {
  return Buffer.from(`svc audit checkpoint\n${chain}\n${seq}\n${hash}\n${at}\n`)
}

/** What the signature under an export covers: worded otherwise, so that no checkpoint passes for the end of a file. */
export function exportEndText({ chain, seq, hash, at }: Omit<Checkpoint, 'kid' | 'signature'>): Buffer {
  return Buffer.from(`svc audit end of export\n${chain}\n${seq}\n${hash}\n${at}\n`)
}

/** The public keys that are trusted, by their ids. */
export type TrustedKeys = ReadonlyMap<string, KeyObject>

/** The id of a key is a fingerprint of it, so a key cannot pass for another. */
export function publicKeyId(publicKey: Buffer): string {
  return hash('sha256', publicKey.toString('base64'), 'hex').slice(0, 16)
}

/** From DER (SPKI), as an export carries it. */
export function toTrustedKeys(keys: readonly Buffer[]): TrustedKeys {
  return new Map(keys.map((key) => [publicKeyId(key), createPublicKey({ key, format: 'der', type: 'spki' })]))
}

export interface ChainVerification {
  /** Whose chain it is: what was signed of another says nothing of this one. */
  chain: string
  /** Where the walk begins: the last entry that is known to be right, or nothing. */
  start?: ChainHead
  /** Where the chain must end; null when the store has lost it. Left out when the end is not known. */
  head?: ChainHead | null
  trusted: TrustedKeys
}

/** Walks the chain to its end or to the first entry that is wrong. */
export async function verifyChain(pages: AsyncIterable<ChainPage>, walk: ChainVerification): Promise<ChainVerdict> {
  const at = walk.start ?? { seq: 0, hash: GENESIS_HASH }
  const { chain, trusted } = walk
  const state: VerificationState = { ...at, chain, trusted, entries: 0, anchor: null, signed: 0, unverifiable: 0 }
  for await (const page of pages) {
    const fault = faultInPage(state, page)
    if (fault) return toVerdict(state, fault)
  }
  return toVerdict(state, walk.head === undefined ? null : faultAtEnd(state, walk.head))
}

interface VerificationState {
  chain: string
  seq: number
  hash: string
  entries: number
  anchor: Checkpoint | null
  signed: number
  unverifiable: number
  trusted: TrustedKeys
}

interface ChainFault {
  seq: number
  problem: string
}

function faultInPage(state: VerificationState, page: ChainPage): ChainFault | null {
  const fault = faultInEntries(state, page)
  const passed = page.checkpoints.filter(({ seq }) => seq <= state.seq && seq !== fault?.seq)
  return faultInSignatures(state, passed) ?? fault
}

function faultInEntries(state: VerificationState, { entries, checkpoints }: ChainPage): ChainFault | null {
  const waiting = [...checkpoints]
  // Of a chain that has no entry the beginning is signed.
  const early = faultInCheckpoints(state, waiting)
  if (early) return early
  for (const entry of entries) {
    const fault = faultInEntry(state, entry)
    if (fault) return fault
    state.seq = entry.seq
    state.hash = entry.hash
    const marked = faultInCheckpoints(state, waiting)
    if (marked) return marked
  }
  const [beyond] = waiting
  return beyond ? { seq: state.seq + 1, problem: `the chain was cut: a checkpoint tells of entry ${beyond.seq}` } : null
}

/** Takes the checkpoints of where the walk is now from those that wait. */
function faultInCheckpoints({ chain, seq, hash }: VerificationState, waiting: Checkpoint[]): ChainFault | null {
  for (let [mark] = waiting; mark && mark.seq <= seq; [mark] = waiting) {
    waiting.shift()
    if (mark.chain !== chain) {
      return { seq: mark.seq, problem: `the checkpoint of entry ${mark.seq} is of another chain, ${mark.chain}` }
    }
    if (mark.seq !== seq || mark.hash !== hash) {
      return { seq: mark.seq, problem: `entry ${mark.seq} is not the one that its checkpoint tells of` }
    }
  }
  return null
}

function faultInEntry(state: VerificationState, entry: SealedEntry): ChainFault | null {
  state.entries++
  const expected = state.seq + 1
  if (entry.seq !== expected) {
    const problem =
      entry.seq > expected ? `entry ${expected} is missing` : `entry ${entry.seq} stands where ${expected} belongs`
    return { seq: Math.min(entry.seq, expected), problem }
  }
  if (entry.prev_hash !== state.hash)
    return { seq: expected, problem: `entry ${expected} does not follow the one before` }
  if (hashSealedText(entry.sealed) !== entry.hash)
    return { seq: expected, problem: `entry ${expected} is not what its hash says` }
  return null
}

/**
 * What a checkpoint says must hold even when nobody can tell any more who signed it, but only a good signature is an
 * anchor. The newest of a page vouches for all before it, so only that one is checked: a signature costs as much as a
 * hundred hashes.
 */
function faultInSignatures(state: VerificationState, checkpoints: readonly Checkpoint[]): ChainFault | null {
  const known = checkpoints.filter(({ kid }) => state.trusted.has(kid))
  state.unverifiable += checkpoints.length - known.length
  const newest = known.at(-1)
  const key = newest && state.trusted.get(newest.kid)
  if (!newest || !key) return null
  const problem = checkpointForgery(newest, key)
  if (problem) return { seq: newest.seq, problem }
  state.signed += known.length
  state.anchor = newest
  return null
}

/** Null when the key has signed it. */
export function checkpointForgery(checkpoint: Checkpoint, key: KeyObject): string | null {
  const good = verify(null, checkpointText(checkpoint), key, Buffer.from(checkpoint.signature, 'base64'))
  return good ? null : `the checkpoint of entry ${checkpoint.seq} is forged`
}

function faultAtEnd(state: VerificationState, head: ChainHead | null): ChainFault | null {
  if (!head) return state.seq === 0 ? null : { seq: state.seq + 1, problem: 'the head of the chain is gone' }
  if (head.seq > state.seq) return { seq: state.seq + 1, problem: `the chain was cut: its head is entry ${head.seq}` }
  if (head.seq < state.seq) return { seq: head.seq + 1, problem: `entry ${head.seq + 1} stands behind the head` }
  return head.hash === state.hash
    ? null
    : { seq: head.seq, problem: `the head does not name the hash of entry ${head.seq}` }
}

function toVerdict(state: VerificationState, fault: ChainFault | null): ChainVerdict {
  return {
    ok: fault === null,
    entries: state.entries,
    head: state.seq === 0 ? null : state.hash,
    first_bad_seq: fault?.seq ?? null,
    problem: fault?.problem ?? null,
    anchored_to: state.anchor?.seq ?? null,
    signed_by: state.anchor?.kid ?? null,
    checkpoints: { signed: state.signed, not_verifiable: state.unverifiable },
  }
}
