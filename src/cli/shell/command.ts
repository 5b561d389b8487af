import type { ParseArgsConfig } from 'node:util'
import type { Advice } from './program-name.ts'
import type { ServiceClient } from './service-client.ts'
import type { Terminal } from './terminal.ts'

export interface CliCommand {
  /** One word or two: `tail`, `wedge check`. */
  name: string
  /** What follows the name, as help shows it. */
  usage: string
  /** One line. */
  summary: string
  /** Further lines of `svc help NAME`. */
  details?: Advice
  options?: NonNullable<ParseArgsConfig['options']>
  /** How many words it takes, at least and at most. */
  argCount: readonly [number, number]
  run(call: CommandCall): Promise<number>
}

export interface CommandCall {
  args: string[]
  options: Record<string, unknown>
  context: CommandContext
}

/** What a command sees of the world. */
export interface CommandContext {
  env: Record<string, string | undefined>
  terminal: Terminal
  service: ServiceClient
  /** Whether `--url` was given, rather than taken from the environment or the default. */
  isUrlGiven: boolean
  /** The file that runs this command line, to start a service with. */
  programPath: string
  /** How the person called it, for advice. */
  programName: string
  server: ServerCommands
}

/** What needs the code of the server; the rest speaks HTTP or reads files. */
export interface ServerCommands {
  serve(svc: string): Promise<void>
  /** Seals all secrets anew with `SVC_SECRET_KEY`. */
  rotateVault(oldKey: string): Promise<{ resealed: number; current: number; unreadable: string[]; unsealed: string[] }>
  /** Seals the audit chains that `SVC_SECRET_KEY` has not sealed. */
  adoptChains(): Promise<{
    adopted: { chain: string; found: string; entries: number }[]
    refused: { chain: string; problem: string }[]
  }>
  /** Copies the SQLite store, consistent while the service runs. */
  backupSqlite(file: string): Promise<void>
}

/** An option that takes a value; undefined when it was left out. */
export function stringOption({ options }: CommandCall, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** The words that a command needs at least are there: the table says how many. */
export const commandArg = ({ args: words }: CommandCall, at: number): string => words[at] ?? ''

export const commandUsage = ({ name, usage }: CliCommand, svc: string) => `${svc} ${name} ${usage}`.trimEnd()
