import { errorMessage } from '../../platform/base/error-message.ts'
import manifest from '../../../package.json' with { type: 'json' }
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
  packageRoot: string
  server: ServerCommands
}

/** Runs one command and returns its exit code. Errors are printed, never thrown. */
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
  { args, env, programPath, packageRoot, server }: CommandLineStart,
  terminal: Terminal,
  svc: string,
): Promise<number> {
  const parsed = parseCommandLine(args)
  if (parsed.kind === 'help') return printHelp(terminal, parsed.topic.join(' '), svc)
  if (parsed.kind === 'version') return printVersion(terminal)
  const { command, options } = parsed
  const url = toOptionalString(options.url)
  const key = toOptionalString(options.key) ?? (env.SVC_KEY || env.SVC_FOUNDER_API_KEY)
  const service = createServiceClient(parseServiceUrl(url ?? (env.SVC_URL || DEFAULT_SERVICE_URL)), key)
  const context: CommandContext = {
    env,
    terminal,
    service,
    isUrlGiven: url !== undefined,
    programPath,
    packageRoot,
    programName: svc,
    server,
  }
  return command.run({ args: parsed.args, options, context })
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
    throw usageError(`'${url}' is not an http or https URL`, `example: ${DEFAULT_SERVICE_URL}`)
  }
  const { username, password, search, hash } = new URL(url)
  if (username + password + search + hash === '') return url
  throw usageError(
    'the URL of the service must contain only a host and a path',
    `example: ${DEFAULT_SERVICE_URL}; pass the key with --key or SVC_KEY`,
  )
}

function printHelp(terminal: Terminal, topic: string, svc: string): number {
  const matches = COMMANDS.filter(({ name }) => name === topic || name.startsWith(`${topic} `))
  // More words may follow a command, such as the format of `connection import openapi`.
  const exact = COMMANDS.find(({ name }) => name === topic) ?? COMMANDS.find(({ name }) => topic.startsWith(`${name} `))
  if (topic !== '' && matches.length === 0 && !exact) throw unknownCommand(topic.split(' '))
  if (topic === '') terminal.print(helpOverview(COMMANDS, svc))
  else terminal.print(exact ? commandHelp(exact, svc) : helpOverview(matches, svc))
  return EXIT_CODE.ok
}

function reportFailure(terminal: Terminal, error: unknown, svc: string): number {
  const exit = error instanceof CommandFailure ? error.exit : EXIT_CODE.failed
  const advice = error instanceof CommandFailure && error.advice !== null ? adviceText(error.advice, svc) : null
  if (terminal.isJson) terminal.note(JSON.stringify({ error: errorMessage(error), advice, exit }))
  // One write for both lines, because a service that fails to start may still be writing its log to stderr.
  else terminal.note([`svc: ${errorMessage(error)}`, ...(advice ? [`     ${advice}`] : [])].join('\n'))
  return exit
}
