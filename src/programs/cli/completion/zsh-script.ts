import type { CompletionChoice, CompletionTable } from './completion-table.ts'

export const zshScript = ({
  words,
  options,
  commonOptions,
  valueOptions,
  optionValues,
}: CompletionTable): string => `#compdef svc
# Completion of svc for zsh.
_svc() {
  local typed= option= word
  local -a choices options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $option ]]; then
      option=
      continue
    fi
    case $word in
      (${valueOptions.join('|')}) option=$word ;;
      (-*) ;;
      (*) typed+=\${typed:+ }$word ;;
    esac
  done
  if [[ -n $option ]]; then
    case "$typed $option" in
${optionValues.map(({ command, option, values }) => `      ('${command}'*' ${option}') choices=(${values.join(' ')}) ;;`).join('\n')}
    esac
  else
    case $typed in
${words.map(({ after, choices }) => `      ('${after}') choices=(${choices.map(quoteChoice).join(' ')}) ;;`).join('\n')}
    esac
    case "$typed " in
${options.map(({ command, names }) => `      ('${command} '*) options=(${names.join(' ')}) ;;`).join('\n')}
    esac
    options+=(${commonOptions.join(' ')})
  fi
  if [[ $words[CURRENT] == -* && -z $option ]]; then
    compadd -- $options
  elif (( $#choices )); then
    _describe command choices
  else
    _files
  fi
}
# As a file in fpath, this is the body of the function at its first call.
if [[ $funcstack[1] == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`

/** zsh reads `word:description`. */
const quoteChoice = ({ word, summary }: CompletionChoice): string =>
  `'${word}${summary && `:${summary.replaceAll("'", String.raw`'\''`)}`}'`
