/** One thing that the service needs or would like; `fix` is what to do about it. */
export interface Diagnosis {
  check: string
  level: 'ok' | 'warn' | 'fail'
  detail: string
  fix: string | null
}

export const fine = (check: string, detail: string): Diagnosis => ({ check, level: 'ok', detail, fix: null })
export const lacking = (check: string, detail: string, fix: string): Diagnosis => ({
  check,
  level: 'warn',
  detail,
  fix,
})
export const sick = (check: string, detail: string, fix: string): Diagnosis => ({ check, level: 'fail', detail, fix })
