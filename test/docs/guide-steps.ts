/**
 * Parses the subset of shell that the HTTP guide uses, so that its examples run without curl and jq:
 *
 *   NAME=value                         sets a variable, used as $NAME outside single quotes
 *   curl …                             a request that must return 2xx
 *   NAME=$(curl … | jq -r '.a[0].b')   a request; one field of its response is stored in a variable
 *   sleep 1                            for readers; the test polls until the field exists
 *   # 409 text                         the next request must return this status instead
 *
 * Anything else is an error, so that the guide contains only tested commands.
 */
export type GuideStep =
  | { kind: 'set'; name: string; words: string }
  | { kind: 'curl'; words: string; status: number | null; keep: { name: string; path: string } | null }

export interface CurlRequest {
  method: string
  url: string
  headers: Record<string, string>
  body: string | null
  /** The response never ends; the test reads only its first chunk. */
  isEndless: boolean
}

export type ShellVariables = Record<string, string>

export function parseSteps(code: string): GuideStep[] {
  let status: number | null = null
  return splitCommands(code).flatMap((command): GuideStep[] => {
    if (command.startsWith('#')) {
      const [, number] = /^# (\d{3})\b/.exec(command) ?? []
      if (number) status = Number(number)
      return []
    }
    if (/^sleep \d+$/.test(command)) return []
    const step = parseStep(command, status)
    status = null
    return [step]
  })
}

function parseStep(command: string, status: number | null): GuideStep {
  const [, name, curl, path] = /^(\w+)=\$\((curl [\s\S]*) \| jq -r (\S+)\)$/.exec(command) ?? []
  if (name && curl && path) return { kind: 'curl', words: curl, status, keep: { name, path: path.replaceAll("'", '') } }
  if (command.startsWith('curl ')) return { kind: 'curl', words: command, status, keep: null }
  const [, variable, words] = /^(\w+)=(?!\$\()([\s\S]*)$/.exec(command) ?? []
  if (variable && words !== undefined) return { kind: 'set', name: variable, words }
  throw new Error(`cannot parse the command: ${command}`)
}

/** Splits into lines, but joins a line with the next if it ends in a backslash or has an open quote. */
function splitCommands(code: string): string[] {
  const commands: string[] = []
  let open = ''
  for (const line of code.split('\n')) {
    open = open === '' ? line : `${open}\n${line}`
    if (!open.startsWith('#') && (open.endsWith('\\') || hasOpenQuote(open))) continue
    if (open.trim() !== '') commands.push(open.trim())
    open = ''
  }
  if (open !== '') throw new Error(`the command does not end: ${open}`)
  return commands
}

const hasOpenQuote = (text: string): boolean =>
  /['"]/.test(text.replace(/\\[\s\S]/g, '').replace(/'[^']*'|"[^"]*"/g, ''))

/** Splits a command into words as a shell does. */
export function splitWords(command: string, variables: ShellVariables): string[] {
  const fillVariables = (text: string) => text.replace(/\$(\w+)/g, (_, name: string) => readVariable(variables, name))
  const piece = /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|(\s+)|([^\s'"\\]+)/g
  const words: string[] = []
  let word: string | null = null
  for (const [, single, double, escaped, blank, plain] of command.matchAll(piece)) {
    if (blank !== undefined) {
      if (word !== null) words.push(word)
      word = null
    } else if (escaped !== '\n') {
      word = `${word ?? ''}${single ?? escaped ?? fillVariables(double?.replace(/\\(["\\$])/g, '$1') ?? plain ?? '')}`
    }
  }
  return word === null ? words : [...words, word]
}

function readVariable(variables: ShellVariables, name: string): string {
  const value = variables[name]
  if (value === undefined) throw new Error(`$${name} is used before it is set`)
  return value
}

export function parseCurl(words: string[]): CurlRequest {
  const request = { method: '', url: '', headers: {} as Record<string, string>, data: [] as string[] }
  let [inUrl, isEndless] = [false, false]
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? ''
    const next = () => words[++index] ?? ''
    if (/^-[sNG]+$/.test(word)) inUrl ||= word.includes('G')
    else if (word === '-X') request.method = next()
    else if (word === '-H') Object.assign(request.headers, header(next()))
    else if (word === '-d') request.data.push(next())
    else if (word === '--data-urlencode') request.data.push(encoded(next()))
    else if (word === '-o') next()
    else if (word === '-m') isEndless = next() !== ''
    else if (word.startsWith('-') || request.url) throw new Error(`unknown curl option '${word}'`)
    else request.url = word
  }
  const data = request.data.length > 0 ? request.data.join('&') : null
  const url = inUrl && data !== null ? `${request.url}?${data}` : request.url
  const body = inUrl ? null : data
  return { method: request.method || (body === null ? 'GET' : 'POST'), url, headers: request.headers, body, isEndless }
}

function header(line: string): Record<string, string> {
  const [name = '', ...rest] = line.split(':')
  return { [name.toLowerCase()]: rest.join(':').trim() }
}

function encoded(field: string): string {
  const at = field.indexOf('=')
  return `${field.slice(0, at)}=${encodeURIComponent(field.slice(at + 1))}`
}

/** Reads a field by a jq path such as `.a.b[0].c`. */
export function readField(value: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>((inner, name) => Object(inner)[name] as unknown, value)
}
