import { type CliCommand, COMMON_OPTIONS } from '../shell/command.ts'

/** What can be completed, made from the commands that help lists. */
export interface CompletionTable {
  /** The words that may follow these words: after none the commands, after `wedge` its subcommands. */
  words: { after: string; choices: CompletionChoice[] }[]
  /** The options of each command; those of two words come first, because `approvals` is also the beginning of others. */
  options: { command: string; names: string[] }[]
  commonOptions: string[]
  /** The options whose value is the next word. An option has the same type in every command. */
  valueOptions: string[]
  /** The possible values of an option, where the usage of its command lists them. */
  optionValues: { command: string; option: string; values: string[] }[]
}

export interface CompletionChoice {
  word: string
  summary: string
}

export function completionTable(commands: readonly CliCommand[]): CompletionTable {
  const topLevel = uniqueByWord(commands.map((command) => toChoice(command, 0)))
  const all = [...topLevel, { word: 'help', summary: 'show the details of a command' }]
  const groups = new Set(commands.filter(({ name }) => name.includes(' ')).map(({ name }) => firstWord(name)))
  const subcommands = [...groups].map((group) => ({
    after: group,
    choices: commands.filter(({ name }) => name.startsWith(`${group} `)).map((command) => toChoice(command, 1)),
  }))
  const listed = commands.map(({ name, usage }) => ({ after: name, choices: listedArguments(usage) }))
  return {
    words: [
      { after: '', choices: all },
      { after: 'help', choices: topLevel },
      ...subcommands.map(({ after, choices }) => ({ after: `help ${after}`, choices })),
      ...subcommands,
      ...listed.filter(({ choices }) => choices.length > 0),
    ],
    options: commands
      .map(({ name, options = {} }) => ({ command: name, names: optionNames(options) }))
      .toSorted((a, b) => Number(b.command.includes(' ')) - Number(a.command.includes(' '))),
    commonOptions: optionNames(COMMON_OPTIONS),
    valueOptions: [
      ...new Set([COMMON_OPTIONS, ...commands.map(({ options = {} }) => options)].flatMap(valueOptionNames)),
    ],
    optionValues: commands.flatMap(({ name: command, usage }) =>
      [...usage.matchAll(/(--[a-z-]+) ([a-z]+(?:\|[a-z]+)+)(?![A-Za-z|])/g)].map(([, option = '', values = '']) => ({
        command,
        option,
        values: values.split('|'),
      })),
    ),
  }
}

type OptionTable = NonNullable<CliCommand['options']>

const optionNames = (options: OptionTable) => Object.keys(options).map((name) => `--${name}`)
const valueOptionNames = (options: OptionTable) =>
  optionNames(Object.fromEntries(Object.entries(options).filter(([, { type }]) => type === 'string')))

const firstWord = (name: string) => name.split(' ', 1)[0] ?? name

/** A group such as `wedge` has no summary of its own. */
const toChoice = ({ name, summary }: CliCommand, index: 0 | 1): CompletionChoice => ({
  word: name.split(' ')[index] ?? '',
  summary: index === 0 && name.includes(' ') ? '' : summary,
})

/** The summary of `approvals` is that of the command of one word. */
function uniqueByWord(choices: CompletionChoice[]): CompletionChoice[] {
  const words = [...new Set(choices.map(({ word }) => word))]
  return words.flatMap(
    (word) =>
      choices.find((choice) => choice.word === word && choice.summary !== '') ??
      choices.find((choice) => choice.word === word) ??
      [],
  )
}

/** A first argument in lower case is one of the listed words: `bash|zsh|fish`, `openapi`. */
function listedArguments(usage: string): CompletionChoice[] {
  const [, words = ''] = /^([a-z]+(?:\|[a-z]+)*)(?: |$)/.exec(usage) ?? []
  return words.split('|').flatMap((word) => (word === '' ? [] : [{ word, summary: '' }]))
}
