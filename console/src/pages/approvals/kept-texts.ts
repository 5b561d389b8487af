import { useEffect, useSyncExternalStore } from 'react'
import type { Approval } from '../../api/types.ts'

/** What the reader has typed about an approval and not sent. */
export interface KeptText {
  key: string
  approvalId: string
  payloadSha256: string
  text: string
  /** The form with the text is on the page. */
  isOpen: boolean
}

const listeners = new Set<() => void>()
let kept: readonly KeptText[] = []

/**
 * Keeps a text that is typed and not sent, so that it is not lost when the form goes because another person has decided.
 * Null: there is none.
 */
export function useKeepText(
  approval: Pick<Approval, 'approval_id' | 'payload_sha256'> | null,
  kind: 'edit' | 'note' | 'comment',
  text: string | null,
): void {
  const { approval_id: approvalId = '', payload_sha256: payloadSha256 = '' } = approval ?? {}
  const key = `${kind} ${approvalId} ${payloadSha256}`
  useEffect(() => {
    if (approvalId === '') return
    const others = kept.filter((one) => one.key !== key)
    if (text !== null && text.trim() !== '') update([...others, { key, approvalId, payloadSha256, text, isOpen: true }])
    else if (others.length < kept.length) update(others)
  }, [key, approvalId, payloadSha256, text])
  useEffect(() => () => update(kept.map((one) => (one.key === key ? { ...one, isOpen: false } : one))), [key])
}

/** The texts whose forms are gone. */
export const useKeptTexts = (): readonly KeptText[] =>
  useSyncExternalStore(subscribe, () => kept).filter(({ isOpen }) => !isOpen)

export const forgetText = (key: string): void => update(kept.filter((one) => one.key !== key))

/** Call it when the reader has decided: what was typed is sent. */
export const forgetTextsOf = (approvalId: string): void => update(kept.filter((one) => one.approvalId !== approvalId))

function update(to: readonly KeptText[]): void {
  kept = to
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
