import { errorMessage } from '../base/error-message.ts'
import manifest from '../../package.json' with { type: 'json' }
import { adviceText, programName } from './shell/program-name.ts'
import type { ServerCommands, CommandContext } from './shell/command.ts'
import { COMMANDS } from './commands.ts'
import { EXIT_CODE, CommandFailure, usageError } from './shell/failure.ts'
import { DEFAULT_SERVICE_URL, commandHelp, helpOverview } from './shell/help.ts'
import { createServiceClient } from './shell/service-client.ts'
import { openTerminal, type TerminalStreams, type Terminal } from './shell/terminal.ts'
import { parseCommandLine, unknownCommand } from './parse.ts'

export interface CommandLineStart {
  args: string[]
  env: Record<string, string | undefined>
  streams: TerminalStreams
  programPath: string
  server: ServerCommands
}

/** Runs one command and returns its exit code; whatever goes wrong is told, never thrown. */
export async function runCommandLine(start: CommandLineStart): Promise<number> {
  const terminal = openTerminal(start.streams, start.env, start.args.includes('--json'))
  const svc = programName(start.env, start.programPath)
  try {
    return await dispatch(start, terminal, svc)
  } catch (error) {
    return reportFailure(terminal, error, svc)
  } finally {
    terminal.close()
  }
}

async function dispatch(
  { args: words, env, programPath: program, server }: CommandLineStart,
  terminal: Terminal,
  svc: string,
): Promise<number> {
  const asked = parseCommandLine(words)
  if (asked.kind === 'help') return printHelp(terminal, asked.of.join(' '), svc)
  if (asked.kind === 'version') return printVersion(terminal)
  const { command, options } = asked
  const url = toOptionalString(options.url)
  const key = toOptionalString(options.key) ?? (env.SVC_KEY || env.SVC_FOUNDER_API_KEY)
  const service = createServiceClient(parseServiceUrl(url ?? (env.SVC_URL || DEFAULT_SERVICE_URL)), key)
  const shell: CommandContext = {
    env,
    terminal,
    service,
    isUrlGiven: url !== undefined,
    programPath: program,
    programName: svc,
    server,
  }
  return command.run({ args: asked.words, options, context: shell })
}

function printVersion(terminal: Terminal): number {
  const { version } = manifest
  if (terminal.isJson) terminal.printJson({ version, node: process.versions.node })
  else terminal.print(`${version} (Node.js ${process.versions.node})`)
  return EXIT_CODE.ok
}

const toOptionalString = (value: unknown) => (typeof value === 'string' ? value : undefined)

function parseServiceUrl(url: string): string {
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) {
    throw usageError(`'${url}' is not an address`, `it looks like ${DEFAULT_SERVICE_URL}`)
  }
  const { username, password, search, hash } = new URL(url)
  if (username + password + search + hash === '') return url
  throw usageError(
    'the address has more than a host and a path',
    `it looks like ${DEFAULT_SERVICE_URL}; the key is given apart`,
  )
}

function printHelp(terminal: Terminal, asked: string, svc: string): number {
  const found = COMMANDS.filter(({ name }) => name === asked || name.startsWith(`${asked} `))
  const exact = found.find(({ name }) => name === asked)
  if (asked !== '' && found.length === 0) throw unknownCommand(asked.split(' '))
  if (asked === '') terminal.print(helpOverview(COMMANDS, svc))
  else terminal.print(exact ? commandHelp(exact, svc) : helpOverview(found, svc))
  return EXIT_CODE.ok
}

function reportFailure(terminal: Terminal, error: unknown, svc: string): number {
  const exit = error instanceof CommandFailure ? error.exit : EXIT_CODE.failed
  const advice = error instanceof CommandFailure && error.advice !== null ? adviceText(error.advice, svc) : null
  if (terminal.isJson) terminal.note(JSON.stringify({ error: errorMessage(error), advice, exit }))
  // At once: a service that fails to start may still be writing its log.
  else terminal.note([`svc: ${errorMessage(error)}`, ...(advice ? [`     ${advice}`] : [])].join('\n'))
  return exit
}
