import { withChange, type RecordState, type ModelState, type StepResult } from './model-state.ts'

interface PutInput {
  key: string
  value: number
  /** The version that it must replace, 0 for a new record, null for no check. */
  version: number | null
}

/** Stores a record by its key: 201 if new, 200 if replaced, 409 if the version differs. */
export function putRecord(state: ModelState, { key, value, version }: PutInput): StepResult {
  if (!state.enabled) return [state, { status: 403 }]
  const known = state.records.find((record) => record.key === key && !record.deleted)
  if (version !== null && version !== (known?.version ?? 0)) return [state, { status: 409 }]
  const others = state.records.filter((record) => record.key !== key)
  const record = { key, value, version: (known?.version ?? 0) + 1, deleted: false }
  return [
    { ...state, records: [...others, record] },
    { status: known ? 200 : 201, subject: key },
  ]
}

export function deleteRecord(state: ModelState, { key, deleted }: RecordState): StepResult {
  if (deleted) return [state, { status: 404 }]
  return [
    { ...state, records: withChange(state.records, (record) => record.key === key, { deleted: true }) },
    { status: 204 },
  ]
}
