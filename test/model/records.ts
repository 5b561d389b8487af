import { withChange, type RecordState, type ModelState, type StepResult } from './model-state.ts'

interface Put {
  key: string
  value: number
  /** The version that it replaces, 0 for none; null: whatever is there. */
  version: number | null
}

/** Upserts on the key: 201 when new, 200 when replaced, 409 when the version is another. */
export function putRecord(state: ModelState, { key, value, version }: Put): StepResult {
  if (!state.enabled) return [state, { status: 403 }]
  const known = state.records.find((one) => one.key === key && !one.gone)
  if (version !== null && version !== (known?.version ?? 0)) return [state, { status: 409 }]
  const others = state.records.filter((one) => one.key !== key)
  const record = { key, value, version: (known?.version ?? 0) + 1, gone: false }
  return [
    { ...state, records: [...others, record] },
    { status: known ? 200 : 201, shows: key },
  ]
}

export function deleteRecord(state: ModelState, { key, gone }: RecordState): StepResult {
  if (gone) return [state, { status: 404 }]
  return [{ ...state, records: withChange(state.records, (one) => one.key === key, { gone: true }) }, { status: 204 }]
}
