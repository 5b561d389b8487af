import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'

/**
 * An entry of the audit chain. The code of this file verifies a chain without a store or a clock: the service uses it
 * for rows, the command line for an export.
 */
export interface ChainEntry {
  seq: number
  ts: string
  actor: { kind: string; id: string }
  action: string
  subject: string
  /** Canonical JSON (RFC 8785), kept as text so that every changed byte is found and hashing needs no parsing. */
  data: string
  prev_hash: string
  hash: string
}

/** A signed statement of the hash that the chain had at an entry. */
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

/** The part of an entry that verification needs. */
export interface SealedEntry {
  seq: number
  prev_hash: string
  hash: string
  /** The text that is hashed: the canonical JSON (RFC 8785) of the entry without its hash. */
  sealed: string
}

/** Consecutive entries of the chain with their checkpoints; the last page may have checkpoints of later entries. */
export interface ChainPage {
  entries: readonly SealedEntry[]
  checkpoints: readonly Checkpoint[]
}

export interface ChainVerdict {
  ok: boolean
  /** How many entries were verified before the result was known. */
  entries: number
  /** The hash of the newest valid entry; null for a chain without entries. */
  head: string | null
  first_bad_seq: number | null
  problem: string | null
  /** The newest entry that is confirmed by a checkpoint with a valid signature. */
  anchored_to: number | null
  /** The id of the key that made that signature. */
  signed_by: string | null
  checkpoints: { signed: number; not_verifiable: number }
}

/** The `prev_hash` of the first entry. */
export const GENESIS_HASH = '0'.repeat(64)

/** The hash of an entry, which includes the hash of the entry before it. */
export function entryHash(entry: Omit<ChainEntry, 'hash'>): string {
  return hashSealedText(sealedText(entry))
}

export function sealEntry(entry: ChainEntry): SealedEntry {
  const { seq, prev_hash, hash } = entry
  return { seq, prev_hash, hash, sealed: sealedText(entry) }
}

const hashSealedText = (sealed: string) => hash('sha256', sealed, 'hex')

/** The keys are in the order of RFC 8785. */
function sealedText({ action, actor, data, prev_hash, seq, subject, ts }: Omit<ChainEntry, 'hash'>): string {
  const actorJson = `{"id":${JSON.stringify(actor.id)},"kind":${JSON.stringify(actor.kind)}}`
  const first = `{"action":${JSON.stringify(action)},"actor":${actorJson},"data":${data}`
  const middle = `"prev_hash":${JSON.stringify(prev_hash)},"seq":${seq}`
  return `${first},${middle},"subject":${JSON.stringify(subject)},"ts":${JSON.stringify(ts)}}`
}

/** The text that the signature of a checkpoint covers. */
export function checkpointText({ chain, seq, hash, at }: Omit<Checkpoint, 'kid' | 'signature'>): Buffer {
  return Buffer.from(`svc audit checkpoint\n${chain}\n${seq}\n${hash}\n${at}\n`)
}

/** The text that the signature of an export covers. It differs, so that a checkpoint cannot replace the end line. */
export function exportEndText({ chain, seq, hash, at }: Omit<Checkpoint, 'kid' | 'signature'>): Buffer {
  return Buffer.from(`svc audit end of export\n${chain}\n${seq}\n${hash}\n${at}\n`)
}

/** Trusted public keys by their id. */
export type TrustedKeys = ReadonlyMap<string, KeyObject>

/** The id is a fingerprint of the key, so that a key cannot have the id of another one. */
export function publicKeyId(publicKey: Buffer): string {
  return hash('sha256', publicKey.toString('base64'), 'hex').slice(0, 16)
}

/** The keys are in DER (SPKI), as in an export. */
export function toTrustedKeys(keys: readonly Buffer[]): TrustedKeys {
  return new Map(keys.map((key) => [publicKeyId(key), createPublicKey({ key, format: 'der', type: 'spki' })]))
}

export interface ChainVerification {
  /** The id of the chain: a checkpoint of another chain is a fault. */
  chain: string
  /** The last entry that is known to be valid; left out to start at the beginning. */
  start?: ChainHead
  /** The head that the chain must have; null when the store has none. Left out when it is not known. */
  head?: ChainHead | null
  trusted: TrustedKeys
}

/** Verifies the chain up to its end or up to the first invalid entry. */
export async function verifyChain(
  pages: AsyncIterable<ChainPage>,
  verification: ChainVerification,
): Promise<ChainVerdict> {
  const start = verification.start ?? { seq: 0, hash: GENESIS_HASH }
  const { chain, trusted, head } = verification
  const state: VerificationState = { ...start, chain, trusted, entries: 0, anchor: null, signed: 0, unverifiable: 0 }
  for await (const page of pages) {
    const fault = faultInPage(state, page)
    if (fault) return toVerdict(state, fault)
  }
  return toVerdict(state, head === undefined ? null : faultAtEnd(state, head))
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
  // The checkpoint of a chain without entries is for entry 0.
  const faultAtStart = faultInCheckpoints(state, waiting)
  if (faultAtStart) return faultAtStart
  for (const entry of entries) {
    const entryFault = faultInEntry(state, entry)
    if (entryFault) return entryFault
    state.seq = entry.seq
    state.hash = entry.hash
    const checkpointFault = faultInCheckpoints(state, waiting)
    if (checkpointFault) return checkpointFault
  }
  const [later] = waiting
  return later ? { seq: state.seq + 1, problem: `the chain was cut: a checkpoint refers to entry ${later.seq}` } : null
}

/** Removes the checkpoints up to the current entry from the waiting ones and compares them with it. */
function faultInCheckpoints({ chain, seq, hash }: VerificationState, waiting: Checkpoint[]): ChainFault | null {
  for (let [checkpoint] = waiting; checkpoint && checkpoint.seq <= seq; [checkpoint] = waiting) {
    waiting.shift()
    if (checkpoint.chain !== chain) {
      return {
        seq: checkpoint.seq,
        problem: `the checkpoint of entry ${checkpoint.seq} belongs to another chain, ${checkpoint.chain}`,
      }
    }
    if (checkpoint.seq !== seq || checkpoint.hash !== hash) {
      return { seq: checkpoint.seq, problem: `entry ${checkpoint.seq} does not match its checkpoint` }
    }
  }
  return null
}

function faultInEntry(state: VerificationState, entry: SealedEntry): ChainFault | null {
  state.entries++
  const expected = state.seq + 1
  if (entry.seq !== expected) {
    const problem =
      entry.seq > expected ? `entry ${expected} is missing` : `entry ${entry.seq} is in the place of entry ${expected}`
    return { seq: Math.min(entry.seq, expected), problem }
  }
  if (entry.prev_hash !== state.hash)
    return { seq: expected, problem: `entry ${expected} does not follow the entry before it` }
  if (hashSealedText(entry.sealed) !== entry.hash)
    return { seq: expected, problem: `entry ${expected} does not match its hash` }
  return null
}

/**
 * A checkpoint must match its entry even if its key is no longer known, but only a valid signature is an anchor. The
 * newest signature of a page confirms all entries before it, so only that one is verified: it costs as much as 100 hashes.
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

/** Null when the signature is valid for this key. */
export function checkpointForgery(checkpoint: Checkpoint, key: KeyObject): string | null {
  const isValid = verify(null, checkpointText(checkpoint), key, Buffer.from(checkpoint.signature, 'base64'))
  return isValid ? null : `the checkpoint of entry ${checkpoint.seq} is forged`
}

function faultAtEnd(state: VerificationState, head: ChainHead | null): ChainFault | null {
  if (!head) return state.seq === 0 ? null : { seq: state.seq + 1, problem: 'the head of the chain is gone' }
  if (head.seq > state.seq) return { seq: state.seq + 1, problem: `the chain was cut: its head is entry ${head.seq}` }
  if (head.seq < state.seq) return { seq: head.seq + 1, problem: `entry ${head.seq + 1} is after the head` }
  return head.hash === state.hash
    ? null
    : { seq: head.seq, problem: `the hash of the head is not the hash of entry ${head.seq}` }
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
