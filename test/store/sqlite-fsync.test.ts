import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteConnection } from '../../src/store/sqlite/sqlite-connection.ts'
import { inTemporaryFolder } from '../sandbox/run-cell.ts'

test.each(['full', 'normal'] as const)(
  'with SVC_SQLITE_SYNC=%s a flush goes through to the disk also on macOS, where a plain one stops at its cache',
  (sync) =>
    inTemporaryFolder(async (folder) => {
      const handle = openSqliteConnection(join(folder, 'svc.db'), sync)
      const [flush] = handle.prepare('pragma fullfsync').all([])
      handle.close()
      expect(flush).toEqual({ fullfsync: 1 })
    }),
)
