/**
 * The few words of the shell that the guide is written in, so that its examples run where there is neither curl nor jq:
 *
 *   NAME=value                         a variable, used as $NAME outside of single quotes
 *   curl …                             a request, which must answer with 2xx
 *   NAME=$(curl … | jq -r '.a[0].b')   a request of whose answer one field is kept
 *   sleep 1                            for readers; the test waits until there is something to keep
 *   # 409 words                        the request below must answer with this status instead
 *
 * Anything else is an error: what cannot be tried is not in the guide.
 */
export type Step =
  | { kind: 'set'; name: string; words: string }
  | { kind: 'curl'; words: string; status: number | null; keep: { name: string; path: string } | null }

export interface Request {
  method: string
  url: string
  headers: Record<string, string>
  body: string | null
  /** It never ends by itself: enough is the first that comes. */
  endless: boolean
}

export type Variables = Record<string, string>

export function stepsOf(code: string): Step[] {
  let status: number | null = null
  return commandsOf(code).flatMap((command): Step[] => {
    if (command.startsWith('#')) {
      const [, number] = /^# (\d{3})\b/.exec(command) ?? []
      if (number) status = Number(number)
      return []
    }
    if (/^sleep \d+$/.test(command)) return []
    const step = stepOf(command, status)
    status = null
    return [step]
  })
}

function stepOf(command: string, status: number | null): Step {
  const [, name, curl, path] = /^(\w+)=\$\((curl [\s\S]*) \| jq -r (\S+)\)$/.exec(command) ?? []
  if (name && curl && path) return { kind: 'curl', words: curl, status, keep: { name, path: path.replaceAll("'", '') } }
  if (command.startsWith('curl ')) return { kind: 'curl', words: command, status, keep: null }
  const [, variable, words] = /^(\w+)=(?!\$\()([\s\S]*)$/.exec(command) ?? []
  if (variable && words !== undefined) return { kind: 'set', name: variable, words }
  throw new Error(`the guide's test does not understand: ${command}`)
}

/** Lines, joined where a quote is open or a backslash ends one. */
function commandsOf(code: string): string[] {
  const commands: string[] = []
  let open = ''
  for (const line of code.split('\n')) {
    open = open === '' ? line : `${open}\n${line}`
    if (!open.startsWith('#') && (open.endsWith('\\') || quoteIsOpen(open))) continue
    if (open.trim() !== '') commands.push(open.trim())
    open = ''
  }
  if (open !== '') throw new Error(`the guide has a command without an end: ${open}`)
  return commands
}

const quoteIsOpen = (text: string): boolean =>
  /['"]/.test(text.replace(/\\[\s\S]/g, '').replace(/'[^']*'|"[^"]*"/g, ''))

/** The words of a command as a shell would hand them over. */
export function wordsOf(command: string, variables: Variables): string[] {
  const filled = (text: string) => text.replace(/\$(\w+)/g, (_, name: string) => valueOf(variables, name))
  const piece = /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|(\s+)|([^\s'"\\]+)/g
  const words: string[] = []
  let word: string | null = null
  for (const [, single, double, escaped, blank, plain] of command.matchAll(piece)) {
    if (blank !== undefined) {
      if (word !== null) words.push(word)
      word = null
    } else if (escaped !== '\n') {
      word = `${word ?? ''}${single ?? escaped ?? filled(double?.replace(/\\(["\\$])/g, '$1') ?? plain ?? '')}`
    }
  }
  return word === null ? words : [...words, word]
}

function valueOf(variables: Variables, name: string): string {
  const value = variables[name]
  if (value === undefined) throw new Error(`the guide uses $${name} before it is set`)
  return value
}

export function requestOf(words: string[]): Request {
  const asked = { method: '', url: '', headers: {} as Record<string, string>, data: [] as string[] }
  let [inUrl, endless] = [false, false]
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? ''
    const next = () => words[++at] ?? ''
    if (/^-[sNG]+$/.test(word)) inUrl ||= word.includes('G')
    else if (word === '-X') asked.method = next()
    else if (word === '-H') Object.assign(asked.headers, header(next()))
    else if (word === '-d') asked.data.push(next())
    else if (word === '--data-urlencode') asked.data.push(encoded(next()))
    else if (word === '-o') next()
    else if (word === '-m') endless = next() !== ''
    else if (word.startsWith('-') || asked.url) throw new Error(`the guide's test does not know curl's '${word}'`)
    else asked.url = word
  }
  const data = asked.data.length > 0 ? asked.data.join('&') : null
  const url = inUrl && data !== null ? `${asked.url}?${data}` : asked.url
  const body = inUrl ? null : data
  return { method: asked.method || (body === null ? 'GET' : 'POST'), url, headers: asked.headers, body, endless }
}

function header(line: string): Record<string, string> {
  const [name = '', ...rest] = line.split(':')
  return { [name.toLowerCase()]: rest.join(':').trim() }
}

function encoded(field: string): string {
  const at = field.indexOf('=')
  return `${field.slice(0, at)}=${encodeURIComponent(field.slice(at + 1))}`
}

/** The field of an answer that jq would print: `.a.b[0].c`. */
export function fieldAt(value: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>((inner, name) => Object(inner)[name] as unknown, value)
}
