import { useSyncExternalStore } from 'react'
import { serverNow } from '../../api/http.ts'

/** How long an approval of high risk waits before it is sent, so that it can be undone. */
export const HOLD_MS = 5_000

/** A decision that is made and not sent yet. */
export interface HeldDecision {
  approvalIds: readonly string[]
  summary: string
  /** In the server's time. */
  sendAt: number
  undo: () => void
}

const listeners = new Set<() => void>()
let held: readonly HeldDecision[] = []

/**
 * Sends a decision after five seconds, unless it is undone. It is kept outside the page, so that it is sent although
 * another page is opened. A closed tab sends nothing: the approval stays pending.
 */
export function holdDecision(
  decision: Pick<HeldDecision, 'approvalIds' | 'summary'>,
  { send, onUndo }: { send: () => void; onUndo?: () => void },
): void {
  const timer = setTimeout(() => (remove(), send()), HOLD_MS)
  const one: HeldDecision = {
    ...decision,
    sendAt: serverNow() + HOLD_MS,
    undo: () => (clearTimeout(timer), remove(), onUndo?.()),
  }
  const remove = () => update(held.filter((other) => other !== one))
  update([...held, one])
}

/** The decisions that are not sent yet, oldest first. */
export const useHeldDecisions = (): readonly HeldDecision[] => useSyncExternalStore(subscribe, () => held)

/** The decision about this approval that is not sent yet. */
export const useHeldDecision = (approvalId: string): HeldDecision | undefined =>
  useHeldDecisions().find(({ approvalIds }) => approvalIds.includes(approvalId))

function update(to: readonly HeldDecision[]): void {
  held = to
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
