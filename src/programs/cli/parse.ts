import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type CliCommand, COMMON_OPTIONS, commandUsage } from './shell/command.ts'
import { COMMANDS } from './commands.ts'
import { type CommandFailure, usageError } from './shell/failure.ts'
import { closestName } from '../../platform/base/closest-name.ts'

export type ParsedCommandLine =
  | { kind: 'help'; topic: string[] }
  | { kind: 'version' }
  | { kind: 'command'; command: CliCommand; options: Record<string, unknown>; args: string[] }

type OptionTable = NonNullable<ParseArgsConfig['options']>

export function parseCommandLine(args: string[]): ParsedCommandLine {
  const { before, after } = splitAtCommand(args)
  const [first] = after
  if (before.some((word) => VERSION_WORDS.includes(word)) || first === 'version') return { kind: 'version' }
  const { options } = parseOptions(before, COMMON_OPTIONS, null)
  if (first === 'help') return { kind: 'help', topic: after.slice(1).filter((word) => !word.startsWith('-')) }
  if (first === undefined && options.help) return { kind: 'help', topic: [] }
  if (first === undefined) throw usageError('no command given', helpListsCommands)
  if (isGroup(after) && (options.help || after.includes('--help') || after.includes('-h')))
    return { kind: 'help', topic: [first] }
  const command = findCommand(after)
  const rest = after.slice(command.name.split(' ').length)
  return checkArgCount(command, parseOptions([...before, ...rest], { ...COMMON_OPTIONS, ...command.options }, command))
}

const VERSION_WORDS = ['--version', '-v']

/** The command begins at the first argument that is neither an option nor the value of an option. */
function splitAtCommand(args: string[]): { before: string[]; after: string[] } {
  const { tokens } = parseArgs({
    args,
    options: COMMON_OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const at = tokens.find(({ kind }) => kind === 'positional')?.index ?? args.length
  return { before: args.slice(0, at).filter((word) => word !== '--'), after: args.slice(at) }
}

interface ParsedOptions {
  options: Record<string, unknown>
  args: string[]
}

function checkArgCount(command: CliCommand, { options, args }: ParsedOptions): ParsedCommandLine {
  if (options.help) return { kind: 'help', topic: [command.name] }
  const [min, max] = command.argCount
  const usage = (svc: string) => `usage: ${commandUsage(command, svc)}`
  const extra = args[max]
  if (extra !== undefined) {
    const subcommands = COMMANDS.filter(({ name }) => name.startsWith(`${command.name} `)).map(({ name }) => name)
    const suggestion = closestName(`${command.name} ${extra}`, subcommands)
    if (suggestion) throw noSuchCommand(`${command.name} ${extra}`, suggestion)
    throw usageError(`unexpected argument '${extra}'`, usage)
  }
  if (args.length < min) throw usageError(`missing argument ${command.usage.split(' ')[args.length]}`, usage)
  return { kind: 'command', command, options, args }
}

/** Checks the options itself, because the messages of Node's strict mode are written for programmers. */
function parseOptions(args: string[], options: OptionTable, command: CliCommand | null): ParsedOptions {
  const { values, positionals, tokens } = parseArgs({
    args,
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const known = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (!known) throw unknownOption(args[token.index] ?? token.rawName, options, command)
    if (known.type === 'boolean' && token.value !== undefined)
      throw usageError(`option ${token.rawName} takes no value`)
    if (known.type === 'string' && lacksValue(token)) throw missingValue(token.rawName, token.value, command)
  }
  return { options: values, args: positionals }
}

/** A value that begins with a dash is probably the next option. A dash alone means stdin. */
const lacksValue = ({ value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined }) =>
  value === undefined || (!inlineValue && value.length > 1 && value.startsWith('-'))

function missingValue(option: string, next: string | undefined, command: CliCommand | null): CommandFailure {
  const dashHint = next && !next.startsWith('--') ? ` (for a value that begins with a dash: ${option}=${next})` : ''
  return usageError(`option ${option} needs a value${dashHint}`, helpHint(command))
}

/** The message does not repeat the value of the option, because it may be an API key. */
function unknownOption(word: string, options: OptionTable, command: CliCommand | null): CommandFailure {
  const [given = ''] = word.split('=')
  const name = given.replace(/^-+/, '')
  const belongsToCommand = COMMANDS.some((one) => Object.hasOwn(one.options ?? {}, name))
  if (!command && belongsToCommand) return usageError(`option ${given} must come after the command`, helpHint(command))
  const suggestion = closestName(name, Object.keys(options))
  return usageError(`unknown option ${given}${suggestion ? ` (did you mean --${suggestion}?)` : ''}`, helpHint(command))
}

const helpHint = (command: CliCommand | null) => (svc: string) => `see: ${svc} help${command ? ` ${command.name}` : ''}`

/** Only the first word of commands was given, such as `wedge`, which is no command. */
function isGroup([first = '', second = '-']: string[]): boolean {
  const names = COMMANDS.map(({ name }) => name)
  return second.startsWith('-') && !names.includes(first) && names.some((name) => name.startsWith(`${first} `))
}

/** Tries two words first: `approvals approve` before `approvals`. */
function findCommand(args: string[]): CliCommand {
  const [first = '', second = ''] = args
  const found = [`${first} ${second}`, first].flatMap((wanted) => COMMANDS.find(({ name }) => name === wanted) ?? [])[0]
  if (!found) throw unknownCommand(args)
  return found
}

export function unknownCommand([first = '', second = '']: string[]): CommandFailure {
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `))
  const choices = (svc: string) => group.map(({ name }) => `${svc} ${name}`).join(', ')
  if (group.length > 0 && (second === '' || second.startsWith('-'))) {
    return usageError(`command '${first}' needs a subcommand`, choices)
  }
  const both = `${first} ${second}`
  if (group.length > 0) return noSuchCommand(both, closestName(both, commandNames(group)), choices)
  const last = COMMANDS.find(({ name }) => name.endsWith(` ${first}`))?.name
  return noSuchCommand(
    first,
    last ?? closestName(both, commandNames(COMMANDS)) ?? closestName(first, commandNames(COMMANDS)),
  )
}

const helpListsCommands = (svc: string) => `${svc} help lists the commands`

function noSuchCommand(name: string, suggestion: string | null, hint = helpListsCommands): CommandFailure {
  return usageError(`unknown command '${name}'`, (svc) =>
    suggestion ? `did you mean: ${svc} ${suggestion}` : hint(svc),
  )
}

/** The full names, and the first words of two-word names. */
const commandNames = (commands: readonly CliCommand[]) =>
  commands.flatMap(({ name }) => (name.includes(' ') ? [name, name.slice(0, name.indexOf(' '))] : [name]))
