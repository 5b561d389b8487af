import { KNOWN_SETTINGS } from '../../contract/settings.ts'
import { closestName } from '../shell/closest-name.ts'

/** Of a limit that is misspelt nobody would notice that it does not hold. Each as a sentence, with what was meant. */
export function describeUnknownSettings(env: Record<string, string | undefined>): string[] {
  const unknown = Object.keys(env).filter(
    (name) => /^SVC_(?!MODEL_)/.test(name) && !KNOWN_SETTINGS.includes(name) && env[name] !== undefined,
  )
  return unknown.map((name) => {
    const meant = closestName(name, KNOWN_SETTINGS)
    return `${name} is no setting${meant ? `: ${meant} is` : ''}`
  })
}
