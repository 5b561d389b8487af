import type { ParseArgsConfig } from 'node:util'
import type { Advice } from './program-name.ts'
import type { ServiceClient } from './service-client.ts'
import type { Terminal } from './terminal.ts'

export interface CliCommand {
  /** One word or two: `tail`, `wedge check`. */
  name: string
  /** Arguments and options after the name, as help shows them. */
  usage: string
  /** One line, without a full stop. */
  summary: string
  /** More lines for `svc help NAME`. */
  details?: Advice
  options?: NonNullable<ParseArgsConfig['options']>
  /** The lowest and the highest number of arguments. */
  argCount: readonly [number, number]
  run(call: CommandCall): Promise<number>
}

export interface CommandCall {
  args: string[]
  options: Record<string, unknown>
  context: CommandContext
}

export interface CommandContext {
  env: Record<string, string | undefined>
  terminal: Terminal
  service: ServiceClient
  /** True if `--url` was given; false if the URL comes from `SVC_URL` or is the default. */
  isUrlGiven: boolean
  /** The file that runs this command line; `wedge rehearse` starts a service with it. */
  programPath: string
  /** The folder of the program, with the example wedges and blueprints. */
  packageRoot: string
  /** The command as the user typed it, for hints that can be copied. */
  programName: string
  server: ServerCommands
}

/** The commands that need the code of the server. All others use HTTP or read files. */
export interface ServerCommands {
  serve(svc: string): Promise<void>
  /** Encrypts all secrets again with `SVC_SECRET_KEY`. */
  rotateVault(oldKey: string): Promise<{ resealed: number; current: number; unreadable: string[]; unsealed: string[] }>
  /** Seals the audit chains that are not sealed by `SVC_SECRET_KEY`. */
  adoptChains(): Promise<{
    adopted: { chain: string; found: string; entries: number }[]
    refused: { chain: string; problem: string }[]
  }>
  /** Copies the SQLite store. The copy is consistent even while the service runs. */
  backupSqlite(file: string): Promise<void>
  /** Starts cells with the driver that the service would use. Throws if it cannot be used. */
  trySandbox(choice: SandboxChoice): Promise<SandboxTrial>
}

/** The values of SVC_SANDBOX. */
export const SANDBOX_CHOICES = ['auto', 'bwrap', 'runsc', 'process'] as const
export type SandboxChoice = (typeof SANDBOX_CHOICES)[number]

export interface SandboxTrial {
  kind: string
  /** What does not work in its cells. */
  warnings: string[]
  /** Without a loopback port, the libraries of a custom agent cannot reach the service. */
  hasLoopback: boolean
  /** Why a custom agent that uses `fetch` failed; null if it worked. */
  fetchProblem: string | null
}

/** The options of every command. They are also accepted before the command. */
export const COMMON_OPTIONS: NonNullable<CliCommand['options']> = {
  url: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
}

/** The value of an option, or undefined if it was not given. */
export function stringOption({ options }: CommandCall, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** An argument that must be there: `argCount` was checked before the command runs. */
export const commandArg = ({ args }: CommandCall, index: number): string => args[index] ?? ''

export const commandUsage = ({ name, usage }: CliCommand, svc: string) => `${svc} ${name} ${usage}`.trimEnd()
