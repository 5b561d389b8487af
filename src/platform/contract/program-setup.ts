/** Files by their path below a folder, in base64. */
export type ProgramFiles = Record<string, string>

/** What an MCP server of a wedge gets before it starts: variables, in which `$TMP` is its folder, and the files of the folder. */
export interface ProgramSetup {
  env: Record<string, string>
  files: ProgramFiles
}

/** The length of the setup in bytes is the first line, padded, so that the program reads exactly what belongs to it. */
export const SETUP_LENGTH_CHARACTERS = 10

export const MAX_PROGRAM_FILES = 1_000
/** All files of the folder together. Base64 makes a line of 2.7 MB of them. */
export const MAX_PROGRAM_FILES_MB = 2
/** The last line of the program: its files, or null if there are too many. */
export interface ProgramEnd {
  program_files: ProgramFiles | null
}
