import { adviceText } from './program-name.ts'
import { type CliCommand, commandUsage } from './command.ts'
import { EXIT_CODE_MEANINGS } from './failure.ts'

export const DEFAULT_SERVICE_URL = 'http://127.0.0.1:8787'

export function helpOverview(commands: readonly CliCommand[], svc: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    `usage: ${svc} COMMAND …`,
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    `${svc} help COMMAND shows the details of a command; ${svc} --version prints the version.`,
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
  'common options:',
  `  --url URL  URL of the service (default: SVC_URL, or ${DEFAULT_SERVICE_URL})`,
  '  --key KEY  API key; prefer SVC_KEY, because other users of this machine can see arguments',
  '  --json     print JSON lines, and errors as one JSON line on stderr',
  '  --help     show the help of a command',
  '',
  'Set NO_COLOR to turn colours off. There are no colours outside a terminal.',
  '',
  'exit codes:',
  ...EXIT_CODE_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`),
]
