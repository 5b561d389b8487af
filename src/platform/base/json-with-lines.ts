import type { Json } from './json.ts'

export type JsonPath = readonly (string | number)[]

/** A parsed JSON file with the line of each value, so that errors can be reported with a line. */
export interface JsonWithLines {
  value: Json
  /** The line of a value, counted from 1. For a path that does not exist, the line of the nearest parent. */
  lineOf(path: JsonPath): number
  /** Keys that occur twice in one object; JSON.parse silently uses the last. */
  duplicateKeys: { key: string; line: number }[]
}

export class JsonSyntaxError extends Error {
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

/** Throws a JsonSyntaxError with the line of the first syntax error. */
export function parseJsonWithLines(text: string): JsonWithLines {
  const lines = new Map<string, number>()
  const duplicateKeys: JsonWithLines['duplicateKeys'] = []
  const reader = new JsonReader(text, (path, line) => lines.set(JSON.stringify(path), line), duplicateKeys)
  const value = reader.document()
  return {
    value,
    duplicateKeys,
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const line = lines.get(JSON.stringify(path.slice(0, length)))
        if (line !== undefined) return line
      }
      return 1
    },
  }
}

const SCALAR = /"(?:[^"\\\n\r]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y
const MAX_DEPTH = 64

class JsonReader {
  #index = 0
  /** Counted only in white space, because a JSON string cannot contain a line break. */
  #line = 1
  readonly #text: string
  readonly #onValue: (path: JsonPath, line: number) => void
  readonly #duplicateKeys: JsonWithLines['duplicateKeys']

  constructor(
    text: string,
    onValue: (path: JsonPath, line: number) => void,
    duplicateKeys: JsonWithLines['duplicateKeys'],
  ) {
    this.#text = text
    this.#onValue = onValue
    this.#duplicateKeys = duplicateKeys
  }

  document(): Json {
    const value = this.#value([])
    if (this.#peek() !== '') throw this.#error('unexpected text after the value')
    return value
  }

  #value(path: JsonPath): Json {
    if (path.length > MAX_DEPTH) throw this.#error(`must not nest deeper than ${MAX_DEPTH} levels`)
    const next = this.#peek()
    this.#onValue(path, this.#line)
    if (next === '{') return this.#object(path)
    return next === '[' ? this.#array(path) : this.#scalar()
  }

  #object(path: JsonPath): Json {
    const fields = new Map<string, Json>()
    this.#index++
    while (this.#peek() !== '}') {
      if (fields.size > 0) this.#expect(',', "expected ',' or '}'")
      if (this.#peek() !== '"') throw this.#error('expected a key in double quotes')
      const line = this.#line
      const scalar = this.#scalar()
      const key = typeof scalar === 'string' ? scalar : JSON.stringify(scalar)
      if (fields.has(key)) this.#duplicateKeys.push({ key, line })
      this.#expect(':', `expected ':' after "${key}"`)
      fields.set(key, this.#value([...path, key]))
      this.#onValue([...path, key], line)
    }
    this.#index++
    return Object.fromEntries(fields)
  }

  #array(path: JsonPath): Json {
    const items: Json[] = []
    this.#index++
    while (this.#peek() !== ']') {
      if (items.length > 0) this.#expect(',', "expected ',' or ']'")
      items.push(this.#value([...path, items.length]))
    }
    this.#index++
    return items
  }

  #scalar(): Json {
    SCALAR.lastIndex = this.#index
    const token = SCALAR.exec(this.#text)?.[0]
    try {
      const value: Json = JSON.parse(token ?? '')
      this.#index += token?.length ?? 0
      return value
    } catch {
      throw this.#error(this.#index >= this.#text.length ? 'unexpected end of the file' : 'expected a JSON value')
    }
  }

  #expect(character: string, message: string): void {
    if (this.#peek() !== character) throw this.#error(message)
    this.#index++
  }

  /** The next character that is not white space, or an empty string at the end. */
  #peek(): string {
    for (; /[ \t\r\n]/.test(this.#text[this.#index] ?? ''); this.#index++)
      if (this.#text[this.#index] === '\n') this.#line++
    return this.#text[this.#index] ?? ''
  }

  #error(message: string): JsonSyntaxError {
    return new JsonSyntaxError(`malformed json: ${message}`, this.#line)
  }
}
