import { expect, test } from 'vitest'
import { hashPassword, passwordMatches } from '../../src/accounts/passwords.ts'
import { createSystemWorld } from '../../src/ctx/system-world.ts'

const world = createSystemWorld('silent')
const hashed = (password: string) => hashPassword(world, password)

test('a password is matched by itself and by nothing else', async () => {
  const kept = await hashed('correct horse battery')
  expect(await passwordMatches(world, 'correct horse battery', kept)).toBe(true)
  expect(await passwordMatches(world, 'correct horse batterY', kept)).toBe(false)
  expect(await passwordMatches(world, '', kept)).toBe(false)
})

test('one password is kept as two texts, neither of which contains it', async () => {
  const [first, second] = await Promise.all([hashed('correct horse battery'), hashed('correct horse battery')])
  expect(first).not.toBe(second)
  expect(first).not.toContain('horse')
})

test('the kept text names its cost, so older ones still match after the cost was raised', async () => {
  // Made by `crypto.scryptSync('tr0ub4dor&3', 'sixteen bytes!!!', 32, { N: 1024, r: 8, p: 1 })`.
  const cheap = `scrypt$1024$8$1$${Buffer.from('sixteen bytes!!!').toString('base64url')}$x8XAMRT-BYW4LgiuLd4O64xXQcFmnBUQ6G2s9Hk6vRg`
  expect(await hashed('tr0ub4dor&3')).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
  expect(await passwordMatches(world, 'tr0ub4dor&3', cheap)).toBe(true)
  expect(await passwordMatches(world, 'tr0ub4dor&4', cheap)).toBe(false)
})

test('an account that does not exist is matched by no password', async () => {
  expect(await passwordMatches(world, 'correct horse battery', null)).toBe(false)
})

test('the same words typed as other code points are the same password', async () => {
  expect(await passwordMatches(world, 'cafe\u0301 au lait', await hashed('caf\u00e9 au lait'))).toBe(true)
})
