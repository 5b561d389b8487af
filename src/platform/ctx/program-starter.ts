import type { ProgramFiles, ProgramSetup } from '../contract/program-setup.ts'

/** A Node program in the folder of a wedge. */
export interface WedgeProgram {
  projectId: string
  /** The real path of the wedge's folder, in which the program starts and which it can only read. */
  dir: string
  /** The path of the script below the folder. */
  script: string
  args: string[]
  /** Its variables and files; null if it needs neither. */
  setup: ProgramSetup | null
}

/** A program that runs without network, without the service's environment and without a credential. */
export interface RunningProgram {
  /** Writes one line to its standard input. */
  write(line: string): void
  /** Ends the program and all its children. */
  kill(): Promise<void>
  /** Ends its input, so that it ends by itself, and returns its files; null if it has none that can be kept. */
  finish(): Promise<ProgramFiles | null>
  /** `stderr` is the end of what it wrote there. */
  exited: Promise<{ stderr: string }>
}

/**
 * Starts a program; null: too many are running. `onLine` gets the lines of its standard output. Folders that may not
 * import the sandbox start programs through this function.
 */
export type StartProgram = (program: WedgeProgram, onLine: (line: string) => void) => RunningProgram | null

/** Until the sandbox has been checked, nothing is started. */
export const refuseToStart: StartProgram = () => null
