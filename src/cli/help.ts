import { advise } from './called-as.ts'
import { type Command, usageOf } from './command.ts'
import { EXIT_WORDS } from './failure.ts'

export const DEFAULT_URL = 'http://127.0.0.1:8787'

export function overview(commands: readonly Command[], svc: string): string {
  const widest = Math.max(...commands.map(({ name }) => name.length))
  return [
    `usage: ${svc} COMMAND …`,
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(widest)}  ${summary}`),
    '',
    `${svc} help COMMAND tells more; ${svc} --version says which one this is.`,
    '',
    ...COMMON,
  ].join('\n')
}

export function helpOf(command: Command, svc: string): string {
  const { summary, details } = command
  return [
    `usage: ${usageOf(command, svc)}`,
    '',
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    ...(details ? ['', advise(details, svc)] : []),
    '',
    ...COMMON,
  ].join('\n')
}

const COMMON = [
  'options of every command:',
  `  --url URL  where the service is; else SVC_URL, else ${DEFAULT_URL}`,
  '  --key KEY  the founder key; better SVC_KEY, which other users of the machine cannot see',
  '  --json     JSON lines for scripts; errors are a JSON line on stderr',
  '  NO_COLOR   set to anything: no colours; there are none outside a terminal anyway',
  '',
  'exit codes:',
  ...EXIT_WORDS.map(([code, words]) => `  ${String(code).padStart(3)}  ${words}`),
]
