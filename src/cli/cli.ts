import { parseArgs } from 'node:util'
import manifest from '../../package.json' with { type: 'json' }
import type { Command, ServerCommands, Shell } from './command.ts'
import { COMMANDS } from './commands.ts'
import { EXIT, Failure, messageOf, misused } from './failure.ts'
import { DEFAULT_URL, helpOf, overview } from './help.ts'
import { serviceAt } from './service.ts'
import { openTerminal, type Streams, type Terminal } from './terminal.ts'

export interface Start {
  words: string[]
  env: Record<string, string | undefined>
  streams: Streams
  program: string
  server: ServerCommands
}

/** Runs one command and returns its exit code; whatever goes wrong is told, never thrown. */
export async function runCommandLine(start: Start): Promise<number> {
  const terminal = openTerminal(start.streams, start.env, start.words.includes('--json'))
  try {
    return await dispatch(start, terminal)
  } catch (error) {
    return tell(terminal, error)
  } finally {
    terminal.close()
  }
}

const HELP = ['help', '--help', '-h']
const VERSION_WORDS = ['version', '--version', '-v']
const COMMON = {
  url: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

async function dispatch({ words, env, program, server }: Start, terminal: Terminal): Promise<number> {
  const [first] = words
  if (first === undefined) throw misused('no command was given', 'svc help lists them')
  if (HELP.includes(first)) return help(terminal, words.slice(1))
  if (VERSION_WORDS.includes(first)) return tellVersion(terminal)
  const command = commandFor(words)
  const { options, positionals } = understood(command, words.slice(command.name.split(' ').length))
  if (options.help) return help(terminal, [command.name])
  const [least, most] = command.words
  if (positionals.length < least || positionals.length > most) {
    throw misused(`usage: svc ${command.name} ${command.usage}`.trimEnd(), `svc help ${command.name}`)
  }
  const url = textIn(options.url)
  const key = textIn(options.key) ?? env.SVC_KEY ?? env.SVC_FOUNDER_API_KEY
  const service = serviceAt(addressOf(url ?? env.SVC_URL ?? DEFAULT_URL), key)
  const shell: Shell = { env, terminal, service, urlGiven: url !== undefined, program, server }
  return command.run({ words: positionals, options, shell })
}

function tellVersion(terminal: Terminal): number {
  const { version } = manifest
  if (terminal.json) terminal.tell({ version, node: process.versions.node })
  else terminal.say(`${version} (Node.js ${process.versions.node})`)
  return EXIT.ok
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : undefined)

function addressOf(url: string): string {
  if (/^https?:\/\/./.test(url) && URL.canParse(url)) return url
  throw misused(`'${url}' is not an address`, `it looks like ${DEFAULT_URL}`)
}

function help(terminal: Terminal, words: string[]): number {
  const asked = words.filter((name) => !name.startsWith('-')).join(' ')
  const found = COMMANDS.filter(({ name }) => name === asked || name.startsWith(`${asked} `))
  const exact = found.find(({ name }) => name === asked)
  if (asked !== '' && found.length === 0) throw unknown(asked)
  if (asked === '') terminal.say(overview(COMMANDS))
  else terminal.say(exact ? helpOf(exact) : overview(found))
  return EXIT.ok
}

/** `approvals approve` before `approvals`. */
function commandFor([first = '', second = '']: string[]): Command {
  const found = [`${first} ${second}`, first].flatMap((wanted) => COMMANDS.find(({ name }) => name === wanted) ?? [])[0]
  if (found) return found
  const related = COMMANDS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => `svc ${name}`)
  if (related.length > 0) throw misused(`svc ${first} needs one more word`, related.join(', '))
  throw unknown(first)
}

const unknown = (name: string) => misused(`there is no command '${name}'`, 'svc help lists them')

function understood(command: Command, args: string[]): { options: Record<string, unknown>; positionals: string[] } {
  try {
    const options = { ...COMMON, ...command.options }
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
    return { options: values, positionals }
  } catch (error) {
    throw misused(messageOf(error), `svc help ${command.name}`)
  }
}

function tell(terminal: Terminal, error: unknown): number {
  const exit = error instanceof Failure ? error.exit : EXIT.failed
  const advice = error instanceof Failure ? error.advice : null
  if (terminal.json) terminal.note(JSON.stringify({ error: messageOf(error), advice, exit }))
  // At once: a service that fails to start may still be writing its log.
  else terminal.note([`svc: ${messageOf(error)}`, ...(advice ? [`     ${advice}`] : [])].join('\n'))
  return exit
}
