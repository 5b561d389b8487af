import { KNOWN_SETTINGS } from '../../../platform/contract/settings.ts'
import { closestName } from '../shell/closest-name.ts'

/** Describes each misspelt setting: the default would otherwise apply without notice. */
export function describeUnknownSettings(env: Record<string, string | undefined>): string[] {
  const unknown = Object.keys(env).filter(
    (name) => /^SVC_(?!MODEL_)/.test(name) && !KNOWN_SETTINGS.includes(name) && env[name] !== undefined,
  )
  return unknown.map((name) => {
    const suggestion = closestName(name, KNOWN_SETTINGS)
    return `unknown setting ${name}${suggestion ? ` (did you mean ${suggestion}?)` : ''}`
  })
}
