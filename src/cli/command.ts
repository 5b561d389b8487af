import type { ParseArgsConfig } from 'node:util'
import type { Advice } from './called-as.ts'
import type { Service } from './service.ts'
import type { Terminal } from './terminal.ts'

export interface Command {
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
  words: readonly [number, number]
  run(call: Call): Promise<number>
}

export interface Call {
  words: string[]
  options: Record<string, unknown>
  shell: Shell
}

/** What a command sees of the world. */
export interface Shell {
  env: Record<string, string | undefined>
  terminal: Terminal
  service: Service
  /** Whether `--url` was given, rather than taken from the environment or the default. */
  urlGiven: boolean
  /** The file that runs this command line, to start a service with. */
  program: string
  /** How the person called it, for advice. */
  svc: string
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
export function textOption({ options }: Call, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** The words that a command needs at least are there: the table says how many. */
export const word = ({ words }: Call, at: number): string => words[at] ?? ''

export const usageOf = ({ name, usage }: Command, svc: string) => `${svc} ${name} ${usage}`.trimEnd()
