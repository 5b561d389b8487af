import { createRequire } from 'node:module'

export type SqliteModule = typeof import('@photostructure/sqlite')

/** `node:sqlite` where Node has it without a flag, else its backport with the same interface. */
export function loadSqlite(): SqliteModule {
  const load = createRequire(import.meta.url)
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isBuiltIn = major > 22 || (major === 22 && minor >= 13)
  return isBuiltIn
    ? withoutWarnings(() => load('node:sqlite') as SqliteModule)
    : (load('@photostructure/sqlite') as SqliteModule)
}

/** README.md in this folder explains why. */
function withoutWarnings<T>(work: () => T): T {
  const original = process.emitWarning.bind(process)
  process.emitWarning = () => {}
  try {
    return work()
  } finally {
    process.emitWarning = original
  }
}
