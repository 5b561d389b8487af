import type { Approval, JsonObject } from '../../api/types.ts'

type Read = Pick<Approval, 'approval_id' | 'payload_sha256'>

const edits = new Map<string, JsonObject>()

const keyOf = ({ approval_id, payload_sha256 }: Read): string => `${approval_id} ${payload_sha256}`

/** Call it when the reader undoes an approval: what was edited is in the form again. */
export function keepUndoneEdit(approval: Read & Pick<Approval, 'held'>): void {
  if (approval.held?.edited) edits.set(keyOf(approval), approval.held.edited)
}

/** The fields that the reader had edited in an approval that was undone; null if there are none. */
export const undoneEdit = (approval: Read): JsonObject | null => edits.get(keyOf(approval)) ?? null

export const forgetUndoneEdit = (approval: Read): void => void edits.delete(keyOf(approval))
