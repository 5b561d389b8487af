import type { SettingName, SettingsEnv } from '../contract/settings.ts'

export function integerSetting(
  env: SettingsEnv,
  name: SettingName,
  fallback: number,
  min: number,
  max = Infinity,
): number {
  const value = env[name] ? Number(env[name]) : fallback
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new Error(`${name} must be a whole number ${max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`}`)
}

/** The first choice is the default. */
export function choiceSetting<const T extends string>(
  env: SettingsEnv,
  name: SettingName,
  choices: readonly [T, ...T[]],
): T {
  const value = env[name] || choices[0]
  const found = choices.find((choice) => choice === value)
  if (!found) throw new Error(`${name} must be one of ${choices.join(', ')}`)
  return found
}

export function parseList(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}

/** Checked at start, so that a wrong address does not fail only at the first request. */
export function parseHttpUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new Error(`${name} must be an http or https url`)
  return url
}
