/** The result of one check; `fix` says what to do if the level is not `ok`. */
export interface CheckResult {
  check: string
  level: 'ok' | 'warn' | 'fail'
  detail: string
  fix: string | null
}

export const okCheck = (check: string, detail: string): CheckResult => ({ check, level: 'ok', detail, fix: null })
export const warnCheck = (check: string, detail: string, fix: string): CheckResult => ({
  check,
  level: 'warn',
  detail,
  fix,
})
export const failCheck = (check: string, detail: string, fix: string): CheckResult => ({
  check,
  level: 'fail',
  detail,
  fix,
})
