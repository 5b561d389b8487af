import type { CompletionTable } from './completion-table.ts'

export function fishScript({ words, options, commonOptions, valueOptions, optionValues }: CompletionTable): string {
  const takesValue = (option: string) => (valueOptions.includes(option) ? ' -r' : '')
  const valuesOf = (command: string, option: string) => {
    const found = optionValues.find((entry) => entry.command === command && entry.option === option)
    return found ? ` -f -a '${found.values.join(' ')}'` : ''
  }
  const optionLine = (condition: string, option: string, more: string) =>
    `complete -c svc${condition} -l ${option.slice(2)}${takesValue(option)}${more}`
  return [
    FISH_FUNCTIONS.replace('VALUE_OPTIONS', valueOptions.join(' ')),
    ...words.flatMap(({ after, choices }) =>
      choices.map(({ word, summary }) => {
        const description = summary && ` -d ${quote(summary)}`
        return `complete -c svc -f -n '__svc_typed_is "${after}"' -a ${word}${description}`
      }),
    ),
    ...options.flatMap(({ command, names }) =>
      names.map((name) => optionLine(` -n '__svc_command_is "${command}"'`, name, valuesOf(command, name))),
    ),
    ...commonOptions.map((name) => optionLine('', name, '')),
    '',
  ].join('\n')
}

const quote = (text: string) => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`

const FISH_FUNCTIONS = `# Completion of svc for fish.
function __svc_typed
    set -l typed
    set -l skip
    for word in (commandline -opc)[2..-1]
        if set -q skip[1]
            set -e skip
        else if contains -- $word VALUE_OPTIONS
            set skip 1
        else if not string match -q -- '-*' $word
            set -a typed $word
        end
    end
    string join ' ' -- $typed
end
function __svc_typed_is
    set -l typed (__svc_typed)
    test "$typed" = "$argv[1]"
end
function __svc_command_is
    set -l typed (__svc_typed)
    string match -q -- "$argv[1] *" "$typed "
end`
