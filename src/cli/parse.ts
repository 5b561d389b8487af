import { type ParseArgsConfig, parseArgs } from 'node:util'
import { adviceText } from './shell/program-name.ts'
import { type CliCommand, commandUsage } from './shell/command.ts'
import { COMMANDS } from './commands.ts'
import { type CommandFailure, usageError } from './shell/failure.ts'
import { closestName } from './shell/closest-name.ts'

/** What the words of a command line ask for. */
export type ParsedCommandLine =
  | { kind: 'help'; of: string[] }
  | { kind: 'version' }
  | { kind: 'command'; command: CliCommand; options: Record<string, unknown>; words: string[] }

type OptionTable = NonNullable<ParseArgsConfig['options']>

/** They may also stand before the command. */
const COMMON_OPTIONS: OptionTable = {
  url: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
}

export function parseCommandLine(words: string[]): ParsedCommandLine {
  const { before, after } = splitAtCommand(words)
  const [first] = after
  if (before.some((word) => VERSION_WORDS.includes(word)) || first === 'version') return { kind: 'version' }
  const { options } = parseOptions(before, COMMON_OPTIONS, null)
  if (first === 'help') return { kind: 'help', of: after.slice(1).filter((word) => !word.startsWith('-')) }
  if (first === undefined && options.help) return { kind: 'help', of: [] }
  if (first === undefined) throw usageError('no command was given', helpListsCommands)
  const command = findCommand(after)
  const own = after.slice(command.name.split(' ').length)
  return checkArgCount(command, parseOptions([...before, ...own], { ...COMMON_OPTIONS, ...command.options }, command))
}

const VERSION_WORDS = ['--version', '-v']

/** The command begins at the first word that is neither an option nor the value of one. */
function splitAtCommand(words: string[]): { before: string[]; after: string[] } {
  const { tokens } = parseArgs({
    args: words,
    options: COMMON_OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const at = tokens.find(({ kind }) => kind === 'positional')?.index ?? words.length
  return { before: words.slice(0, at).filter((word) => word !== '--'), after: words.slice(at) }
}

interface ParsedOptions {
  options: Record<string, unknown>
  words: string[]
}

function checkArgCount(command: CliCommand, { options, words }: ParsedOptions): ParsedCommandLine {
  if (options.help) return { kind: 'help', of: [command.name] }
  const [least, most] = command.argCount
  const tooMany = words[most]
  if (tooMany !== undefined) {
    const meant = COMMANDS.filter(({ name }) => name.startsWith(`${command.name} `)).map(({ name }) => name)
    const near = closestName(`${command.name} ${tooMany}`, meant)
    if (near) throw noSuchCommand(`${command.name} ${tooMany}`, near)
    throw usageError(`'${tooMany}' is one word too many`, (svc) => `usage: ${commandUsage(command, svc)}`)
  }
  if (words.length < least) {
    throw usageError(
      `${command.usage.split(' ')[words.length]} is missing`,
      (svc) => `usage: ${commandUsage(command, svc)}`,
    )
  }
  return { kind: 'command', command, options, words }
}

/** Our own judgement of the options: that of Node is for programmers. */
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
    if (known.type === 'boolean' && token.value !== undefined) throw usageError(`${token.rawName} takes no value`)
    if (known.type === 'string' && lacksValue(token)) throw missingValue(token.rawName, token.value, command)
  }
  return { options: values, words: positionals }
}

/** What follows may have been meant as the next option. A dash alone is stdin. */
const lacksValue = ({ value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined }) =>
  value === undefined || (!inlineValue && value.length > 1 && value.startsWith('-'))

function missingValue(option: string, next: string | undefined, command: CliCommand | null): CommandFailure {
  const meant = next && !next.startsWith('--') ? `; one that begins with a dash is given as ${option}=${next}` : ''
  return usageError(`${option} needs a value${meant}`, helpHint(command))
}

/** Its value is not repeated: it may be a key. */
function unknownOption(word: string, options: OptionTable, command: CliCommand | null): CommandFailure {
  const [given = ''] = word.split('=')
  const name = given.replace(/^-+/, '')
  const meant = closestName(name, Object.keys(options))
  const owner = COMMANDS.some((one) => Object.hasOwn(one.options ?? {}, name))
  if (!command && owner) return usageError(`${given} must stand after the command`, helpHint(command))
  const message = command ? `${command.name} has no option ${given}` : `there is no option ${given}`
  return usageError(
    message,
    (svc) => `${meant ? `do you mean --${meant}? see ` : ''}${adviceText(helpHint(command), svc)}`,
  )
}

const helpHint = (command: CliCommand | null) => (svc: string) => `${svc} help${command ? ` ${command.name}` : ''}`

/** `approvals approve` before `approvals`. */
function findCommand(words: string[]): CliCommand {
  const [first = '', second = ''] = words
  const found = [`${first} ${second}`, first].flatMap((wanted) => COMMANDS.find(({ name }) => name === wanted) ?? [])[0]
  if (!found) throw unknownCommand(words)
  return found
}

export function unknownCommand([first = '', second = '']: string[]): CommandFailure {
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `))
  const choices = (svc: string) => group.map(({ name }) => `${svc} ${name}`).join(', ')
  if (group.length > 0 && (second === '' || second.startsWith('-'))) {
    return usageError(`${first} needs one more word`, choices)
  }
  const both = `${first} ${second}`
  if (group.length > 0) return noSuchCommand(both, closestName(both, commandNames(group)), choices)
  const last = COMMANDS.find(({ name }) => name.endsWith(` ${first}`))?.name
  return noSuchCommand(
    first,
    last ?? closestName(both, commandNames(COMMANDS)) ?? closestName(first, commandNames(COMMANDS)),
  )
}

const helpListsCommands = (svc: string) => `${svc} help lists them`

function noSuchCommand(name: string, meant: string | null, otherwise = helpListsCommands): CommandFailure {
  return usageError(`there is no command '${name}'`, (svc) => (meant ? `do you mean ${svc} ${meant}?` : otherwise(svc)))
}

/** Also the first words, which several share. */
const commandNames = (commands: readonly CliCommand[]) =>
  commands.flatMap(({ name }) => (name.includes(' ') ? [name, name.slice(0, name.indexOf(' '))] : [name]))
