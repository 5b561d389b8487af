import { expect, test } from 'vitest'
import { removeTrailingSlashes } from '../../../src/platform/base/text.ts'

test.each([
  ['https://api.example', 'https://api.example'],
  ['https://api.example/', 'https://api.example'],
  ['https://api.example/v1//', 'https://api.example/v1'],
  ['//a/b', '//a/b'],
  ['///', ''],
  ['', ''],
])('the text %j without its trailing slashes is %j', (text, result) => {
  expect(removeTrailingSlashes(text)).toBe(result)
})

// The time limit of the tests is over long before `/\/+$/` has read it.
test('a long row of slashes within a text is read once', () => {
  const text = `${'/'.repeat(500_000)}a`
  expect(removeTrailingSlashes(text) === text).toBe(true)
})
