import { isJsonObject, type Json, type JsonObject, ownField } from '../base/json.ts'

/** A turn of a rehearsal: a text, then a tool call or the output. */
export interface RehearsalTurn {
  say?: string
  call?: { tool: string; input: JsonObject }
  output?: Json
}

/** The problems of a rehearsal; empty when it can be played. */
export function rehearsalProblems(json: unknown): string[] {
  if (!Array.isArray(json) || json.length === 0) return ['must be a list of turns']
  return json.flatMap((turn: unknown, i) => {
    const problems = isJsonObject(turn) ? turnProblems(turn, i === 0, i === json.length - 1) : ['must be an object']
    return problems.map((problem) => `turn ${i + 1}: ${problem}`)
  })
}

/**
 * Replaces the placeholders of a template. A string that is only a placeholder becomes the value itself, or null when
 * there is none; inside other text the value is written as text.
 */
export function fillPlaceholders(template: Json, valueOf: (root: string) => Json | undefined): Json {
  if (typeof template === 'string') return template.includes('{{') ? fillText(template, valueOf) : template
  if (Array.isArray(template)) return template.map((item) => fillPlaceholders(item, valueOf))
  if (!isJsonObject(template)) return template
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fillPlaceholders(value, valueOf)]))
}

/** The blanks around the path are removed later: an expression for them takes minutes for a long row of blanks. */
const PLACEHOLDER = /\{\{([^{}]+)\}\}/g
const ONLY_PLACEHOLDER = /^\{\{([^{}]+)\}\}$/

function fillText(text: string, valueOf: (root: string) => Json | undefined): Json {
  const only = ONLY_PLACEHOLDER.exec(text)?.[1]
  if (only !== undefined) return lookUpPath(only.trim(), valueOf)
  return text.replace(PLACEHOLDER, (_, path: string) => toPlaceholderText(lookUpPath(path.trim(), valueOf)))
}

function lookUpPath(path: string, valueOf: (root: string) => Json | undefined): Json {
  const [root = '', ...keys] = path.split('.')
  let found = valueOf(root)
  for (const key of keys) found = fieldOrItem(found, key)
  return found ?? null
}

function fieldOrItem(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined
  return isJsonObject(value) ? ownField(value, key) : undefined
}

function toPlaceholderText(value: Json): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function turnProblems(turn: JsonObject, first: boolean, last: boolean): string[] {
  const { say, call, output, ...others } = turn
  const problems = Object.keys(others).map((key) => `unknown field '${key}'`)
  if (say !== undefined && typeof say !== 'string') problems.push("field 'say' must be a string")
  if (call !== undefined) problems.push(...callProblems(call))
  if (call !== undefined && output !== undefined) problems.push("'call' and 'output' exclude each other")
  if (!last && call === undefined) problems.push("must have a 'call': only the last turn ends the run")
  if (last && output === undefined && (say === undefined || call !== undefined)) problems.push("must have an 'output'")
  return [...problems, ...placeholderProblems(turn, first)]
}

function callProblems(call: Json): string[] {
  if (!isJsonObject(call)) return ["field 'call' must be an object"]
  const problems: string[] = []
  if (typeof call.tool !== 'string' || call.tool === '') problems.push("field 'call.tool' must be a string")
  if (!isJsonObject(call.input)) problems.push("field 'call.input' must be an object")
  return problems
}

function placeholderProblems(turn: JsonObject, first: boolean): string[] {
  const paths = [...JSON.stringify(turn).matchAll(PLACEHOLDER)].map((match) => (match[1] ?? '').trim())
  return paths.flatMap((path) => {
    const root = path.split('.')[0]
    if (root === 'input') return []
    if (root !== 'last') return [`placeholder '${path}' must begin with input or last`]
    return first ? [`placeholder '${path}' comes before any result`] : []
  })
}
