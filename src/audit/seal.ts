import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { ChainHead } from '../base/audit-chain.ts'
import type { Vault } from '../ctx/vault.ts'

/**
 * The head of a chain is sealed whenever it moves, so that whoever has only the database can neither cut the chain nor
 * write it anew: the head that would fit has no seal. Reads `kid.from.mac`, where `from` is the first entry since which
 * the head was sealed without a break: a seal that somebody takes away cannot be put back as it was.
 */
export function sealOf(vault: Vault, chain: string, { seq, hash }: ChainHead, from: number): string {
  const mac = createHmac('sha256', sealerOf(vault).key).update(`${chain}\n${seq}\n${hash}\n${from}\n`).digest('hex')
  return `${vault.kid}.${from}.${mac}`
}

export interface HeadRow extends ChainHead {
  seal: string | null
}

/**
 * `foreign`: made with a key that is not at hand, which a change of the key leaves behind. As with a checkpoint of such a
 * key, nobody can tell whether it is right.
 */
export type SealState = { kind: 'fits'; from: number } | { kind: 'foreign' } | { kind: 'wrong'; problem: string }

export function readSeal(vault: Vault, chain: string, head: HeadRow): SealState {
  if (head.seal === null) return { kind: 'wrong', problem: 'the head of the chain has lost its seal' }
  const [kid, from] = head.seal.split('.')
  if (kid !== vault.kid) return { kind: 'foreign' }
  const expected = Buffer.from(sealOf(vault, chain, head, Number(from)))
  const given = Buffer.from(head.seal)
  if (given.length === expected.length && timingSafeEqual(given, expected)) return { kind: 'fits', from: Number(from) }
  return { kind: 'wrong', problem: 'the head of the chain was changed, and not by the service' }
}

/** How the head is sealed when it moves on: anew, or not at all. */
export type Sealing = { from: number } | { kept: string | null }

/** A seal that does not fit stays as it is: the next entry must not heal what somebody did to those before. */
export function sealingAfter(vault: Vault, chain: string, head: HeadRow): Sealing {
  if (head.seq === 0 && head.seal === null) return { from: 1 }
  const made = sealerOf(vault).made.get(chain)
  if (made && made.seal === head.seal && made.seq === head.seq && made.hash === head.hash) return { from: made.from }
  const state = readSeal(vault, chain, head)
  if (state.kind === 'wrong') return { kept: head.seal }
  return { from: state.kind === 'fits' ? state.from : head.seq + 1 }
}

export function sealedWith(vault: Vault, chain: string, head: ChainHead, sealing: Sealing): string | null {
  if ('kept' in sealing) return sealing.kept
  const seal = sealOf(vault, chain, head, sealing.from)
  const { made } = sealerOf(vault)
  if (made.size >= REMEMBERED) made.clear()
  made.set(chain, { ...head, seal, from: sealing.from })
  return seal
}

const REMEMBERED = 10_000

interface Sealer {
  /** Deriving it costs more than a seal, and every commit makes one. */
  key: KeyObject
  /**
   * The last seal of each chain, so that the next commit need not compute it again to see that it fits. One whose commit
   * failed is no harm: it fits its head all the same.
   */
  made: Map<string, ChainHead & { seal: string; from: number }>
}

const sealers = new WeakMap<Vault, Sealer>()

function sealerOf(vault: Vault): Sealer {
  const known = sealers.get(vault)
  if (known) return known
  const sealer = { key: createSecretKey(vault.derive('audit heads')), made: new Map() }
  sealers.set(vault, sealer)
  return sealer
}
