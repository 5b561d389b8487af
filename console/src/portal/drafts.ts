import { createContext, useContext, useReducer } from 'react'
import { newIdempotencyKey } from '../api/idempotency-key.ts'
import type { PortalFile } from './portal-api.ts'

/** A message that is not sent yet. Its files are uploaded. */
interface Draft {
  subject: string
  body: string
  files: PortalFile[]
  /** The same until the message was sent, so that one whose response was lost is not sent twice. */
  idempotencyKey: string
}

const emptyDraft = (): Draft => ({ subject: '', body: '', files: [], idempotencyKey: newIdempotencyKey() })

/** The draft of each conversation, so that it is there again after another conversation was open. */
export type Drafts = Map<string, Draft>

const DraftsContext = createContext<Drafts>(new Map())
export const DraftsProvider = DraftsContext.Provider

export function useDraft(key: string): [Draft, (update: (draft: Draft) => Draft) => void] {
  const drafts = useContext(DraftsContext)
  const [, render] = useReducer((count: number) => count + 1, 0)
  const read = () => drafts.get(key) ?? emptyDraft()
  const change = (update: (draft: Draft) => Draft) => {
    // Also after another conversation was opened, when an upload or the sending ends.
    drafts.set(key, update(read()))
    render()
  }
  return [read(), change]
}
