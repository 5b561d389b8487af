import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** What is wrong with one field of a value, as a text that follows the name of the field. */
export function issueMessage(issue: Issue, value: unknown): string {
  const choices = choicesIn(issue)
  const missing = valueAtPath(value, issue.path) === undefined
  if (choices) return `${missing ? 'is required:' : 'must be'} one of ${choices.map(String).join(', ')}`
  return missing ? 'is required' : describeIssue(issue)
}

/** The first three issues of a value in one line, each with its path. */
export function issueMessages({ issues }: z.ZodError, value: unknown): string {
  const shown = issues
    .slice(0, 3)
    .map((issue) => `${issue.path.map(String).join('.') || 'the file'} ${issueMessage(issue, value)}`)
  return shown.join('; ')
}

/** The issue of a discriminated union is at its discriminator. */
function choicesIn(issue: Issue): readonly unknown[] | null {
  if (issue.code === 'invalid_value') return issue.values
  return issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options) ? issue.options : null
}

export function valueAtPath(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
}

const isObject = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_NAMES[issue.expected] ?? `of type ${issue.expected}`}`
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') {
        if (issue.minimum === 1) return 'must not be empty'
        return `must have at least ${issue.minimum} ${issue.origin === 'string' ? 'characters' : 'items'}`
      }
      return `must be ${issue.inclusive ? 'at least' : 'greater than'} ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'items'}`
        : `must be ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`
    case 'invalid_union':
      return describeForms(issue)
    case 'unrecognized_keys':
      return `has keys that are unknown: ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
    case 'invalid_key':
      return issue.issues[0] ? describeIssue(issue.issues[0]) : 'has a key that is not valid'
    default:
      return issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
  }
}

/** The text that the union declares, or else what each of its forms must be: "must be a number or a string". */
function describeForms({ message, errors }: Extract<Issue, { code: 'invalid_union' }>): string {
  if (message !== 'Invalid input') return message
  const [first, ...others] = new Set(errors.flatMap(([issue]) => (issue ? describeIssue(issue) : [])))
  if (first === undefined) return 'has none of the allowed forms'
  return [first, ...others.map((text) => text.replace(/^must be /, ''))].join(' or ')
}
