import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { ChainHead } from '../platform/contract/audit/audit-chain.ts'
import type { Vault } from '../platform/ctx/vault.ts'

/**
 * A seal is a MAC of the chain's head, written with every new entry. A person with access to the database alone cannot
 * truncate or rewrite the chain, because the new head would need a new seal. The format is `kid.from.mac`; `from` is
 * the first entry of the unbroken sealed sequence, so a removed seal cannot be restored unnoticed.
 */
export function computeSeal(vault: Vault, chain: string, { seq, hash }: ChainHead, from: number): string {
  const mac = createHmac('sha256', sealingOf(vault).key).update(`${chain}\n${seq}\n${hash}\n${from}\n`).digest('hex')
  return `${vault.kid}.${from}.${mac}`
}

export interface SealedHead extends ChainHead {
  seal: string | null
}

export type SealState = { kind: 'valid'; from: number; problem: null } | { kind: SealFault; problem: string | null }

/** `foreign`: sealed with another key. An upgrade or a key change can cause every fault except `changed`. */
export type SealFault = 'gone' | 'unsealed' | 'foreign' | 'changed'

export function checkSeal(vault: Vault, chain: string, head: SealedHead | null): SealState {
  if (!head) return { kind: 'gone', problem: `the head of the chain is missing: ${ADOPT_HINT}` }
  if (head.seal === null) return { kind: 'unsealed', problem: `the head of the chain has no seal: ${ADOPT_HINT}` }
  const [kid, from] = head.seal.split('.')
  if (kid !== vault.kid) {
    const problem = `the head of the chain was sealed with another key: ${ADOPT_HINT}`
    // Without SVC_SECRET_KEY every start has a new key, so a seal of another key proves nothing.
    return { kind: 'foreign', problem: vault.ephemeral ? null : problem }
  }
  const expected = Buffer.from(computeSeal(vault, chain, head, Number(from)))
  const actual = Buffer.from(head.seal)
  if (actual.length === expected.length && timingSafeEqual(actual, expected)) {
    return { kind: 'valid', from: Number(from), problem: null }
  }
  return { kind: 'changed', problem: 'the head of the chain was changed outside the service' }
}

const ADOPT_HINT =
  'after an upgrade or a change of SVC_SECRET_KEY run `./svc audit adopt`; otherwise the database was changed outside the service'

/** How the next head is sealed: with a new seal, or with the kept one that does not match. */
export type NextSeal = { from: number } | { kept: string | null }

/**
 * A wrong seal is kept, because a new one would hide the change of earlier entries. A seal of another key is removed: it
 * would not match if that key were used again, and a wrong key would look like a changed chain.
 */
export function planNextSeal(vault: Vault, chain: string, head: SealedHead): NextSeal {
  const last = sealingOf(vault).lastSeals.get(chain)
  if (last && last.seal === head.seal && last.seq === head.seq && last.hash === head.hash) return { from: last.from }
  const state = checkSeal(vault, chain, head)
  if (state.problem !== null) return { kept: state.kind === 'foreign' ? null : head.seal }
  return { from: state.kind === 'valid' ? state.from : head.seq + 1 }
}

export function sealHead(vault: Vault, chain: string, head: ChainHead, next: NextSeal): string | null {
  if ('kept' in next) return next.kept
  const seal = computeSeal(vault, chain, head, next.from)
  const { lastSeals } = sealingOf(vault)
  if (lastSeals.size >= MAX_CACHED_SEALS) lastSeals.clear()
  lastSeals.set(chain, { ...head, seal, from: next.from })
  return seal
}

const MAX_CACHED_SEALS = 10_000

interface SealingState {
  /** Cached, because deriving the key costs more than computing a seal. */
  key: KeyObject
  /**
   * The last seal of each chain, so that the next commit can compare it instead of computing it again. A seal whose
   * commit failed does no harm: it matches its head all the same.
   */
  lastSeals: Map<string, ChainHead & { seal: string; from: number }>
}

const sealingByVault = new WeakMap<Vault, SealingState>()

function sealingOf(vault: Vault): SealingState {
  const known = sealingByVault.get(vault)
  if (known) return known
  const sealing = { key: createSecretKey(vault.deriveKey('audit heads')), lastSeals: new Map() }
  sealingByVault.set(vault, sealing)
  return sealing
}
