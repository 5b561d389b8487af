/** The message of anything that was thrown. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The code of an error of the operating system, such as `ENOENT`; empty for other errors. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** The process has no free file handles, which is not a problem of the file. */
export const isOutOfFileHandles = (error: unknown): boolean => ['EMFILE', 'ENFILE'].includes(errorCode(error))
