import { messageOf } from '../base/message-of.ts'
import manifest from '../../package.json' with { type: 'json' }
import { advise, calledAs } from './called-as.ts'
import type { ServerCommands, Shell } from './command.ts'
import { COMMANDS } from './commands.ts'
import { EXIT, Failure, misused } from './failure.ts'
import { DEFAULT_URL, helpOf, overview } from './help.ts'
import { serviceAt } from './service.ts'
import { openTerminal, type Streams, type Terminal } from './terminal.ts'
import { understood, unknownCommand } from './understood.ts'

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
  const svc = calledAs(start.env, start.program)
  try {
    return await dispatch(start, terminal, svc)
  } catch (error) {
    return tell(terminal, error, svc)
  } finally {
    terminal.close()
  }
}

async function dispatch({ words, env, program, server }: Start, terminal: Terminal, svc: string): Promise<number> {
  const asked = understood(words)
  if (asked.kind === 'help') return help(terminal, asked.of.join(' '), svc)
  if (asked.kind === 'version') return tellVersion(terminal)
  const { command, options } = asked
  const url = textIn(options.url)
  const key = textIn(options.key) ?? (env.SVC_KEY || env.SVC_FOUNDER_API_KEY)
  const service = serviceAt(addressOf(url ?? (env.SVC_URL || DEFAULT_URL)), key)
  const shell: Shell = { env, terminal, service, urlGiven: url !== undefined, program, svc, server }
  return command.run({ words: asked.words, options, shell })
}

function tellVersion(terminal: Terminal): number {
  const { version } = manifest
  if (terminal.json) terminal.tell({ version, node: process.versions.node })
  else terminal.say(`${version} (Node.js ${process.versions.node})`)
  return EXIT.ok
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : undefined)

function addressOf(url: string): string {
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) {
    throw misused(`'${url}' is not an address`, `it looks like ${DEFAULT_URL}`)
  }
  const { username, password, search, hash } = new URL(url)
  if (username + password + search + hash === '') return url
  throw misused('the address has more than a host and a path', `it looks like ${DEFAULT_URL}; the key is given apart`)
}

function help(terminal: Terminal, asked: string, svc: string): number {
  const found = COMMANDS.filter(({ name }) => name === asked || name.startsWith(`${asked} `))
  const exact = found.find(({ name }) => name === asked)
  if (asked !== '' && found.length === 0) throw unknownCommand(asked.split(' '))
  if (asked === '') terminal.say(overview(COMMANDS, svc))
  else terminal.say(exact ? helpOf(exact, svc) : overview(found, svc))
  return EXIT.ok
}

function tell(terminal: Terminal, error: unknown, svc: string): number {
  const exit = error instanceof Failure ? error.exit : EXIT.failed
  const advice = error instanceof Failure && error.advice !== null ? advise(error.advice, svc) : null
  if (terminal.json) terminal.note(JSON.stringify({ error: messageOf(error), advice, exit }))
  // At once: a service that fails to start may still be writing its log.
  else terminal.note([`svc: ${messageOf(error)}`, ...(advice ? [`     ${advice}`] : [])].join('\n'))
  return exit
}
