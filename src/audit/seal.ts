import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { ChainHead } from '../contract/audit-chain.ts'
import type { Vault } from '../ctx/vault.ts'

/**
 * The head of a chain is sealed whenever it moves, so that whoever has only the database can neither cut the chain nor
 * write it anew: the head that would fit has no seal. Reads `kid.from.mac`, where `from` is the first entry since which
 * the head was sealed without a break: a seal that somebody takes away cannot be put back as it was.
 */
export function computeSeal(vault: Vault, chain: string, { seq, hash }: ChainHead, from: number): string {
  const mac = createHmac('sha256', sealerOf(vault).key).update(`${chain}\n${seq}\n${hash}\n${from}\n`).digest('hex')
  return `${vault.kid}.${from}.${mac}`
}

export interface SealedHead extends ChainHead {
  seal: string | null
}

export type SealState = { kind: 'fits'; from: number; problem: null } | { kind: SealFault; problem: string | null }

/** `foreign`: made with a key that is not at hand. All but `changed` may also be left behind by an operator. */
export type SealFault = 'gone' | 'unsealed' | 'foreign' | 'changed'

export function checkSeal(vault: Vault, chain: string, head: SealedHead | null): SealState {
  if (!head) return { kind: 'gone', problem: `the head of the chain is gone: ${ADOPT_HINT}` }
  if (head.seal === null) return { kind: 'unsealed', problem: `the head of the chain has lost its seal: ${ADOPT_HINT}` }
  const [kid, from] = head.seal.split('.')
  if (kid !== vault.kid) {
    const problem = `the head of the chain bears the seal of another key: ${ADOPT_HINT}`
    // Where each start makes up a key, seals of others are what a start finds, and nobody can tell who made them.
    return { kind: 'foreign', problem: vault.ephemeral ? null : problem }
  }
  const expected = Buffer.from(computeSeal(vault, chain, head, Number(from)))
  const given = Buffer.from(head.seal)
  if (given.length === expected.length && timingSafeEqual(given, expected)) {
    return { kind: 'fits', from: Number(from), problem: null }
  }
  return { kind: 'changed', problem: 'the head of the chain was changed, and not by the service' }
}

const ADOPT_HINT =
  'unless an upgrade or another SVC_SECRET_KEY explains it (then run `./svc audit adopt`), somebody changed the database'

/** How the head is sealed when it moves on: anew, or not at all. */
export type NextSeal = { from: number } | { kept: string | null }

/**
 * A seal that does not fit stays as it is: the next entry must not heal what somebody did to those before. That of another
 * key goes: should that key come back, it would not fit, and nobody could tell a wrong key from a wrong hand.
 */
export function planNextSeal(vault: Vault, chain: string, head: SealedHead): NextSeal {
  const made = sealerOf(vault).made.get(chain)
  if (made && made.seal === head.seal && made.seq === head.seq && made.hash === head.hash) return { from: made.from }
  const state = checkSeal(vault, chain, head)
  if (state.problem !== null) return { kept: state.kind === 'foreign' ? null : head.seal }
  return { from: state.kind === 'fits' ? state.from : head.seq + 1 }
}

export function sealHead(vault: Vault, chain: string, head: ChainHead, sealing: NextSeal): string | null {
  if ('kept' in sealing) return sealing.kept
  const seal = computeSeal(vault, chain, head, sealing.from)
  const { made } = sealerOf(vault)
  if (made.size >= MAX_CACHED_SEALS) made.clear()
  made.set(chain, { ...head, seal, from: sealing.from })
  return seal
}

const MAX_CACHED_SEALS = 10_000

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
  const sealer = { key: createSecretKey(vault.deriveKey('audit heads')), made: new Map() }
  sealers.set(vault, sealer)
  return sealer
}
