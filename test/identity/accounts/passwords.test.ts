import { expect, test } from 'vitest'
import { hashPassword, passwordMatches } from '../../../src/identity/accounts/passwords.ts'
import { createSystemWorld } from '../../../src/platform/ctx/system-world.ts'

const world = createSystemWorld('silent')
const hashed = (password: string) => hashPassword(world, password)

test('a password hash matches its own password only', async () => {
  const stored = await hashed('correct horse battery')
  expect(await passwordMatches(world, 'correct horse battery', stored)).toBe(true)
  expect(await passwordMatches(world, 'correct horse batterY', stored)).toBe(false)
  expect(await passwordMatches(world, '', stored)).toBe(false)
})

test('one password has two different hashes, and neither contains it', async () => {
  const [first, second] = await Promise.all([hashed('correct horse battery'), hashed('correct horse battery')])
  expect(first).not.toBe(second)
  expect(first).not.toContain('horse')
})

test('a hash stores its cost, so that older hashes match after the cost was raised', async () => {
  // Created with `crypto.scryptSync('tr0ub4dor&3', 'sixteen bytes!!!', 32, { N: 1024, r: 8, p: 1 })`.
  const cheap = `scrypt$1024$8$1$${Buffer.from('sixteen bytes!!!').toString('base64url')}$x8XAMRT-BYW4LgiuLd4O64xXQcFmnBUQ6G2s9Hk6vRg`
  expect(await hashed('tr0ub4dor&3')).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
  expect(await passwordMatches(world, 'tr0ub4dor&3', cheap)).toBe(true)
  expect(await passwordMatches(world, 'tr0ub4dor&4', cheap)).toBe(false)
})

test('without a stored hash no password matches', async () => {
  expect(await passwordMatches(world, 'correct horse battery', null)).toBe(false)
})

test('a password typed with other unicode code points matches', async () => {
  expect(await passwordMatches(world, 'cafe\u0301 au lait', await hashed('caf\u00e9 au lait'))).toBe(true)
})
