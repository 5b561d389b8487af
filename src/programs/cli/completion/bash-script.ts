import type { CompletionTable } from './completion-table.ts'

/**
 * Works with bash 3.2, which macOS has. The line is split at white space and not taken from COMP_WORDS, which bash also splits at
 * `=` and `:`, so a URL would look like several words.
 */
export const bashScript = ({
  words,
  options,
  commonOptions,
  valueOptions,
  optionValues,
}: CompletionTable): string => `# Completion of svc for bash.
_svc() {
  local line=\${COMP_LINE:0:COMP_POINT} current=\${COMP_WORDS[COMP_CWORD]} typed= option= word choices= options=
  local -a given
  read -ra given <<<"$line"
  [[ $line == *[[:space:]] ]] || given=("\${given[@]:0:\${#given[@]}-1}")
  for word in "\${given[@]:1}"; do
    if [[ $option ]]; then
      option=
      continue
    fi
    case $word in
      ${valueOptions.join('|')}) option=$word ;;
      -*) ;;
      *) typed+=\${typed:+ }$word ;;
    esac
  done
  case "$typed $option" in
${optionValues.map(({ command, option, values }) => `    '${command}'*' ${option}') choices='${values.join(' ')}' ;;`).join('\n')}
  esac
  if [[ ! $option ]]; then
    case $typed in
${words.map(({ after, choices }) => `      '${after}') choices='${choices.map(({ word }) => word).join(' ')}' ;;`).join('\n')}
    esac
    case "$typed " in
${options.map(({ command, names }) => `      '${command} '*) options='${names.join(' ')}' ;;`).join('\n')}
    esac
    [[ $current == -* ]] && choices="$options ${commonOptions.join(' ')}"
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
complete -o default -F _svc svc
`
