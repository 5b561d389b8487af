import { describe, expect, test } from 'vitest'
import { StoreUnavailable, classifyStoreError, retryUntilAvailable } from '../../../src/platform/store/errors.ts'

const errorWith = (fields: object) => Object.assign(new Error('failed'), fields)

describe('classifyStoreError', () => {
  test.each([
    ['a refused connection', { code: 'ECONNREFUSED' }],
    ['a reset connection', { code: 'ECONNRESET' }],
    ['a missing Unix socket', { code: 'ENOENT', syscall: 'connect' }],
    ['a failed name lookup', { code: 'EAI_AGAIN' }],
    ['a server that is stopping', { code: '57P01' }],
    ['a server that crashed', { code: '57P02' }],
    ['a server that is starting', { code: '57P03' }],
    ['a connection failure', { code: '08006' }],
    ['too many connections', { code: '53300' }],
    ['a full disk of the server', { code: '53100' }],
    ['a server without memory', { code: '53200' }],
    ['an I/O error of the server', { code: '58030' }],
    ['a missing file of the server', { code: '58P01' }],
    ['a connection that the server ends', { code: 'XX000', severity: 'FATAL' }],
    ['a crash of the server', { code: 'XX001', severity: 'PANIC' }],
    ['a transaction that was idle for too long', { code: '25P03' }],
    ['a read-only server', { code: '25006' }],
    ['a statement timeout', { code: '57014' }],
    ['a lock timeout', { code: '55P03' }],
    ['a busy SQLite file', { code: 'ERR_SQLITE_ERROR', errcode: 5 }],
    ['a SQLite file that is busy with a snapshot', { code: 'ERR_SQLITE_ERROR', errcode: 517 }],
    ['an I/O error', { code: 'ERR_SQLITE_ERROR', errcode: 778 }],
    ['a full disk', { code: 'ERR_SQLITE_ERROR', errcode: 13 }],
  ])('%s means that the store is unavailable', (_name, fields) => {
    const classified = classifyStoreError(errorWith(fields))
    expect(classified).toBeInstanceOf(StoreUnavailable)
    expect(classifyStoreError(classified)).toBe(classified)
  })

  test.each(['Connection terminated unexpectedly', 'timeout expired', 'timeout exceeded when trying to connect'])(
    'the message "%s" of the driver means that the store is unavailable',
    (message) => expect(classifyStoreError(new Error(message))).toBeInstanceOf(StoreUnavailable),
  )

  test.each([
    ['a unique violation', { code: '23505' }],
    ['a deadlock', { code: '40P01' }],
    ['an internal error', { code: 'XX000', severity: 'ERROR' }],
    ['a refused password', { code: '28P01', severity: 'FATAL' }],
    ['a missing database', { code: '3D000', severity: 'FATAL' }],
    ['a missing file', { code: 'ENOENT', syscall: 'open' }],
    ['a constraint violation of SQLite', { code: 'ERR_SQLITE_ERROR', errcode: 19 }],
    ['an error without a code', {}],
  ])('%s is returned unchanged', (_name, fields) => {
    const error = errorWith(fields)
    expect(classifyStoreError(error)).toBe(error)
  })
})

describe('retryUntilAvailable', () => {
  test('a call is repeated while the store is unavailable, and not after other errors', async () => {
    let attempts = 0
    const attempt = async () => {
      if (++attempts < 3) throw new StoreUnavailable('not yet')
      return attempts
    }
    expect(await retryUntilAvailable(attempt)).toBe(3)
    await expect(retryUntilAvailable(() => Promise.reject(new Error('other')))).rejects.toThrow('other')
  })

  test('a call is not repeated after the signal was aborted', async () => {
    const unavailable = () => Promise.reject(new StoreUnavailable('never'))
    await expect(retryUntilAvailable(unavailable, AbortSignal.abort())).rejects.toThrow(StoreUnavailable)
  })
})
