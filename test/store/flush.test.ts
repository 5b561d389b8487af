import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openHandle } from '../../src/store/sqlite-handle.ts'
import { inFolder } from '../sandbox/cells.ts'

test.each(['full', 'normal'] as const)(
  'with SVC_SQLITE_SYNC=%s a flush goes through to the disk also on macOS, where a plain one stops at its cache',
  (sync) =>
    inFolder(async (folder) => {
      const handle = openHandle(join(folder, 'svc.db'), sync)
      const [flush] = handle.prepare('pragma fullfsync').all([])
      handle.close()
      expect(flush).toEqual({ fullfsync: 1 })
    }),
)
