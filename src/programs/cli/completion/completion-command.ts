import { type CliCommand, commandArg } from '../shell/command.ts'
import { EXIT_CODE, usageError } from '../shell/failure.ts'
import { bashScript } from './bash-script.ts'
import { completionTable } from './completion-table.ts'
import { fishScript } from './fish-script.ts'
import { zshScript } from './zsh-script.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }

const isShell = (name: string): name is keyof typeof SCRIPTS => Object.hasOwn(SCRIPTS, name)

/** `listCommands` returns all commands, this one included. */
export const completionCommand = (listCommands: () => readonly CliCommand[]): CliCommand => ({
  name: 'completion',
  usage: 'bash|zsh|fish',
  summary: 'print a script that completes commands and options in your shell',
  details: (svc) => `Write it to a file that your shell reads at its start:
  bash   ${svc} completion bash > ~/.local/share/bash-completion/completions/svc
  zsh    ${svc} completion zsh > DIR/_svc, where DIR is in your fpath
  fish   ${svc} completion fish > ~/.config/fish/completions/svc.fish
It completes svc and ./svc. Print it again after an upgrade.`,
  argCount: [1, 1],
  async run(call) {
    const shell = commandArg(call, 0)
    if (!isShell(shell)) throw usageError(`unknown shell '${shell}'`, 'use bash, zsh or fish')
    call.context.terminal.print(SCRIPTS[shell](completionTable(listCommands())).trimEnd())
    return EXIT_CODE.ok
  },
})
