import { describe, expect, test } from 'vitest'
import { StoreUnavailable, classifyStoreError, retryUntilAvailable } from '../../src/store/errors.ts'

const failing = (fields: object, message = 'it failed') => Object.assign(new Error(message), fields)

describe('a store that cannot be reached is told apart from every other failure', () => {
  test.each([
    ['a server that refuses', { code: 'ECONNREFUSED' }],
    ['a connection that is reset', { code: 'ECONNRESET' }],
    ['a socket that is not there', { code: 'ENOENT', syscall: 'connect' }],
    ['a name that is not found', { code: 'EAI_AGAIN' }],
    ['a server that stops', { code: '57P01' }],
    ['a server that has crashed', { code: '57P02' }],
    ['a server that starts', { code: '57P03' }],
    ['a connection that failed', { code: '08006' }],
    ['too many connections', { code: '53300' }],
    ['a transaction that was silent for too long', { code: '25P03' }],
    ['a server that only reads', { code: '25006' }],
    ['a statement that took too long', { code: '57014' }],
    ['a lock that was waited for too long', { code: '55P03' }],
    ['SQLite that is busy', { code: 'ERR_SQLITE_ERROR', errcode: 5 }],
    ['SQLite that is busy with a snapshot', { code: 'ERR_SQLITE_ERROR', errcode: 517 }],
    ['a disk that fails', { code: 'ERR_SQLITE_ERROR', errcode: 778 }],
    ['a disk that is full', { code: 'ERR_SQLITE_ERROR', errcode: 13 }],
  ])('%s', (_name, fields) => {
    const told = classifyStoreError(failing(fields))
    expect(told).toBeInstanceOf(StoreUnavailable)
    expect(classifyStoreError(told)).toBe(told)
  })

  test.each(['Connection terminated unexpectedly', 'timeout expired', 'timeout exceeded when trying to connect'])(
    'the words "%s"',
    (words) => expect(classifyStoreError(new Error(words))).toBeInstanceOf(StoreUnavailable),
  )

  test.each([
    ['a row that is there already', { code: '23505' }],
    ['a deadlock', { code: '40P01' }],
    ['a file that is not there', { code: 'ENOENT', syscall: 'open' }],
    ['a constraint of SQLite', { code: 'ERR_SQLITE_ERROR', errcode: 19 }],
    ['a mistake of ours', {}],
  ])('but not %s', (_name, fields) => {
    const error = failing(fields)
    expect(classifyStoreError(error)).toBe(error)
  })
})

describe('what must be done is tried until the store is back', () => {
  test('and only for that', async () => {
    let tries = 0
    const attempt = async () => {
      if (++tries < 3) throw new StoreUnavailable('not yet')
      return tries
    }
    expect(await retryUntilAvailable(attempt)).toBe(3)
    await expect(retryUntilAvailable(() => Promise.reject(new Error('a mistake of ours')))).rejects.toThrow(
      'a mistake of ours',
    )
  })

  test('or until nobody waits for it any more', async () => {
    const away = () => Promise.reject(new StoreUnavailable('never'))
    await expect(retryUntilAvailable(away, AbortSignal.abort())).rejects.toThrow(StoreUnavailable)
  })
})
