import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteConnection } from '../../../src/platform/store/sqlite/sqlite-connection.ts'
import { inTemporaryFolder } from '../../execution/sandbox/run-cell.ts'

test.each(['full', 'normal'] as const)(
  'SVC_SQLITE_SYNC=%s: SQLite flushes to the disk also on macOS (fullfsync)',
  (sync) =>
    inTemporaryFolder(async (folder) => {
      const connection = openSqliteConnection(join(folder, 'svc.db'), sync)
      const [pragma] = connection.prepare('pragma fullfsync').all([])
      connection.close()
      expect(pragma).toEqual({ fullfsync: 1 })
    }),
)
