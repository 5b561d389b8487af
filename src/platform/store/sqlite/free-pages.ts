import type { SqliteConnection } from './sqlite-connection.ts'

/** Half of the steps take less than 1 ms; the event loop and other transactions wait for them. */
export const PAGES_PER_STEP = 64
/** 4 MiB stay free for the next rows, so that the file does not shrink and grow again with every task. */
const RESERVED_PAGES = 1024

/** Whether free pages can be given back. A file that another program wrote, for example from a dump, does not. */
export const canReleasePages = (connection: SqliteConnection): boolean =>
  readNumber(connection, 'pragma auto_vacuum', 'auto_vacuum') === INCREMENTAL

const INCREMENTAL = 2

/** Moves some of the last pages of the file to free ones, so that the file gets shorter. Returns their number. */
export function releasePages(connection: SqliteConnection): number {
  const free = readNumber(connection, 'pragma freelist_count', 'freelist_count') - RESERVED_PAGES
  if (free <= 0) return 0
  const pages = Math.min(free, PAGES_PER_STEP)
  connection.exec(`pragma incremental_vacuum(${pages})`)
  return pages
}

function readNumber(connection: SqliteConnection, pragma: string, column: string): number {
  const [row] = connection.prepare(pragma).all([]) as Record<string, number>[]
  return row?.[column] ?? 0
}
