import { type ParseArgsConfig, parseArgs } from 'node:util'
import { advise } from './called-as.ts'
import { type Command, usageOf } from './command.ts'
import { COMMANDS } from './commands.ts'
import { type Failure, misused } from './failure.ts'
import { nearest } from './nearest.ts'

/** What the words of a command line ask for. */
export type Asked =
  | { kind: 'help'; of: string[] }
  | { kind: 'version' }
  | { kind: 'command'; command: Command; options: Record<string, unknown>; words: string[] }

type Options = NonNullable<ParseArgsConfig['options']>

/** They may also stand before the command. */
const COMMON: Options = {
  url: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
}

export function understood(words: string[]): Asked {
  const { before, after } = split(words)
  const [first] = after
  if (before.some((word) => VERSION.includes(word)) || first === 'version') return { kind: 'version' }
  const { options } = parsed(before, COMMON, null)
  if (first === 'help') return { kind: 'help', of: after.slice(1).filter((word) => !word.startsWith('-')) }
  if (first === undefined && options.help) return { kind: 'help', of: [] }
  if (first === undefined) throw misused('no command was given', listed)
  const command = commandFor(after)
  const own = after.slice(command.name.split(' ').length)
  return judged(command, parsed([...before, ...own], { ...COMMON, ...command.options }, command))
}

const VERSION = ['--version', '-v']

/** The command begins at the first word that is neither an option nor the value of one. */
function split(words: string[]): { before: string[]; after: string[] } {
  const { tokens } = parseArgs({ args: words, options: COMMON, allowPositionals: true, strict: false, tokens: true })
  const at = tokens.find(({ kind }) => kind === 'positional')?.index ?? words.length
  return { before: words.slice(0, at).filter((word) => word !== '--'), after: words.slice(at) }
}

interface Parsed {
  options: Record<string, unknown>
  words: string[]
}

function judged(command: Command, { options, words }: Parsed): Asked {
  if (options.help) return { kind: 'help', of: [command.name] }
  const [least, most] = command.words
  const tooMany = words[most]
  if (tooMany !== undefined) {
    const meant = COMMANDS.filter(({ name }) => name.startsWith(`${command.name} `)).map(({ name }) => name)
    const near = nearest(`${command.name} ${tooMany}`, meant)
    if (near) throw noCommand(`${command.name} ${tooMany}`, near)
    throw misused(`'${tooMany}' is one word too many`, (svc) => `usage: ${usageOf(command, svc)}`)
  }
  if (words.length < least) {
    throw misused(`${command.usage.split(' ')[words.length]} is missing`, (svc) => `usage: ${usageOf(command, svc)}`)
  }
  return { kind: 'command', command, options, words }
}

/** Our own judgement of the options: that of Node is for programmers. */
function parsed(args: string[], options: Options, command: Command | null): Parsed {
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
    if (!known) throw noOption(args[token.index] ?? token.rawName, options, command)
    if (known.type === 'boolean' && token.value !== undefined) throw misused(`${token.rawName} takes no value`)
    if (known.type === 'string' && lacksValue(token)) throw noValue(token.rawName, token.value, command)
  }
  return { options: values, words: positionals }
}

/** What follows may have been meant as the next option. A dash alone is stdin. */
const lacksValue = ({ value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined }) =>
  value === undefined || (!inlineValue && value.length > 1 && value.startsWith('-'))

function noValue(option: string, next: string | undefined, command: Command | null): Failure {
  const meant = next && !next.startsWith('--') ? `; one that begins with a dash is given as ${option}=${next}` : ''
  return misused(`${option} needs a value${meant}`, helpOn(command))
}

/** Its value is not repeated: it may be a key. */
function noOption(word: string, options: Options, command: Command | null): Failure {
  const [given = ''] = word.split('=')
  const name = given.replace(/^-+/, '')
  const meant = nearest(name, Object.keys(options))
  const owner = COMMANDS.some((one) => Object.hasOwn(one.options ?? {}, name))
  if (!command && owner) return misused(`${given} must stand after the command`, helpOn(command))
  const message = command ? `${command.name} has no option ${given}` : `there is no option ${given}`
  return misused(message, (svc) => `${meant ? `do you mean --${meant}? see ` : ''}${advise(helpOn(command), svc)}`)
}

const helpOn = (command: Command | null) => (svc: string) => `${svc} help${command ? ` ${command.name}` : ''}`

/** `approvals approve` before `approvals`. */
function commandFor(words: string[]): Command {
  const [first = '', second = ''] = words
  const found = [`${first} ${second}`, first].flatMap((wanted) => COMMANDS.find(({ name }) => name === wanted) ?? [])[0]
  if (!found) throw unknownCommand(words)
  return found
}

export function unknownCommand([first = '', second = '']: string[]): Failure {
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `))
  const choices = (svc: string) => group.map(({ name }) => `${svc} ${name}`).join(', ')
  if (group.length > 0 && (second === '' || second.startsWith('-'))) {
    return misused(`${first} needs one more word`, choices)
  }
  const both = `${first} ${second}`
  if (group.length > 0) return noCommand(both, nearest(both, names(group)), choices)
  const last = COMMANDS.find(({ name }) => name.endsWith(` ${first}`))?.name
  return noCommand(first, last ?? nearest(both, names(COMMANDS)) ?? nearest(first, names(COMMANDS)))
}

const listed = (svc: string) => `${svc} help lists them`

function noCommand(name: string, meant: string | null, otherwise = listed): Failure {
  return misused(`there is no command '${name}'`, (svc) => (meant ? `do you mean ${svc} ${meant}?` : otherwise(svc)))
}

/** Also the first words, which several share. */
const names = (commands: readonly Command[]) =>
  commands.flatMap(({ name }) => (name.includes(' ') ? [name, name.slice(0, name.indexOf(' '))] : [name]))
