import { useEffect, useSyncExternalStore } from 'react'
import type { Approval } from '../../api/types.ts'
import { forgetEdit, forgetEdits } from './kept-edits.ts'

type TextKind = 'edit' | 'note' | 'reason' | 'comment'

type Read = Pick<Approval, 'approval_id' | 'payload_sha256'>

/** What the reader has typed about an approval and not sent. */
export interface KeptText {
  key: string
  kind: TextKind
  approvalId: string
  payloadSha256: string
  text: string
  /** The form with the text is on the page. */
  isOpen: boolean
}

const listeners = new Set<() => void>()
let kept: readonly KeptText[] = []

const keyOf = ({ approval_id, payload_sha256 }: Read, kind: TextKind): string =>
  `${kind} ${approval_id} ${payload_sha256}`

/**
 * Keeps a text that is typed and not sent, so that it is not lost when the form goes because another person has decided.
 * Null: there is none.
 */
export function useKeepText(approval: Read | null, kind: TextKind, text: string | null): void {
  const { approval_id: approvalId = '', payload_sha256: payloadSha256 = '' } = approval ?? {}
  const key = approval === null ? '' : keyOf(approval, kind)
  useEffect(() => {
    if (key === '') return
    const others = kept.filter((one) => one.key !== key)
    if (text !== null && text.trim() !== '')
      update([...others, { key, kind, approvalId, payloadSha256, text, isOpen: true }])
    else if (others.length < kept.length) update(others)
  }, [key, kind, approvalId, payloadSha256, text])
  useEffect(() => () => update(kept.map((one) => (one.key === key ? { ...one, isOpen: false } : one))), [key])
}

/** What a form starts with: the text that the reader typed when it was open before. */
export const keptText = (approval: Read | null, kind: TextKind): string =>
  (approval && kept.find(({ key }) => key === keyOf(approval, kind))?.text) ?? ''

/** The texts whose forms are gone. */
export const useKeptTexts = (): readonly KeptText[] =>
  useSyncExternalStore(subscribe, () => kept).filter(({ isOpen }) => !isOpen)

export const forgetText = (key: string): void => update(kept.filter((one) => one.key !== key))

/** Call it when the reader has decided: what was typed is sent, except a comment, which has a button of its own. */
export function forgetDecisionTexts(approval: Read): void {
  forgetEdit(approval)
  update(kept.filter(({ approvalId, kind }) => approvalId !== approval.approval_id || kind === 'comment'))
}

/** Call it at the sign-out: the next person must not read what was typed or edited. */
export function forgetKeptTexts(): void {
  forgetEdits()
  update([])
}

function update(to: readonly KeptText[]): void {
  kept = to
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
