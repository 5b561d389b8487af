import { adviceText } from './program-name.ts'
import { type CliCommand, commandUsage } from './command.ts'
import { EXIT_CODE_MEANINGS } from './failure.ts'

export const DEFAULT_SERVICE_URL = 'http://127.0.0.1:8787'

export function helpOverview(commands: readonly CliCommand[], svc: string): string {
  const widest = Math.max(...commands.map(({ name }) => name.length))
  return [
    `usage: ${svc} COMMAND …`,
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(widest)}  ${summary}`),
    '',
    `${svc} help COMMAND tells more; ${svc} --version says which one this is.`,
    '',
    ...COMMON_HELP,
  ].join('\n')
}

export function commandHelp(command: CliCommand, svc: string): string {
  const { summary, details } = command
  return [
    `usage: ${commandUsage(command, svc)}`,
    '',
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    ...(details ? ['', adviceText(details, svc)] : []),
    '',
    ...COMMON_HELP,
  ].join('\n')
}

const COMMON_HELP = [
  'options of every command:',
  `  --url URL  where the service is; else SVC_URL, else ${DEFAULT_SERVICE_URL}`,
  '  --key KEY  the founder key; better SVC_KEY, which other users of the machine cannot see',
  '  --json     JSON lines for scripts; errors are a JSON line on stderr',
  '  NO_COLOR   set to anything: no colours; there are none outside a terminal anyway',
  '',
  'exit codes:',
  ...EXIT_CODE_MEANINGS.map(([code, words]) => `  ${String(code).padStart(3)}  ${words}`),
]
