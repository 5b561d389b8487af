import type { Approval, JsonObject } from '../../api/types.ts'

type Read = Pick<Approval, 'approval_id' | 'payload_sha256'>

const edits = new Map<string, JsonObject>()

const keyOf = ({ approval_id, payload_sha256 }: Read): string => `${approval_id} ${payload_sha256}`

/** Keeps the fields that the reader has edited and not sent, for the next time the form opens. */
export function keepEdit(approval: Read, edit: JsonObject): void {
  if (Object.keys(edit).length > 0) edits.set(keyOf(approval), edit)
  else forgetEdit(approval)
}

/** Call it when the reader undoes an approval: what was edited is in the form again. */
export function keepUndoneEdit(approval: Read & Pick<Approval, 'held'>): void {
  if (approval.held?.edited) keepEdit(approval, approval.held.edited)
}

/** Null: the reader has edited nothing. */
export const keptEdit = (approval: Read): JsonObject | null => edits.get(keyOf(approval)) ?? null

export const forgetEdit = (approval: Read): void => void edits.delete(keyOf(approval))

export const forgetEdits = (): void => edits.clear()
