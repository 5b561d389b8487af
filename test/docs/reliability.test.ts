import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { page, ROOT } from './pages.ts'

const rows = page('docs/reliability.md')
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))

/** The test files that the rows name, each with the test names in quotes after it. */
const references = rows.flatMap((row) =>
  [...row.matchAll(/`(test\/[^`]+)`: ([^;|]+)/g)].map(([, file = '', names = '']) => ({
    file,
    names: [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
  })),
)

test('docs/reliability.md names an existing test for every fault', () => {
  expect(rows.map((row) => /^\| (\d+)/.exec(row)?.[1])).toEqual(rows.map((_, i) => String(i + 1)))
  for (const row of rows) expect(row).toMatch(/`test\/[^`]+`: "/)
  const missing = references.flatMap(({ file, names }) => {
    const text = existsSync(join(ROOT, file)) ? page(file) : ''
    return names.filter((name) => !text.includes(name)).map((name) => `${file}: ${name}`)
  })
  expect(missing).toEqual([])
})

test('docs/reliability.md names every test file in test/faults', () => {
  const files = readdirSync(join(ROOT, 'test/faults')).filter(
    (name) => name.endsWith('.test.ts') && name !== 'tcp-proxy.test.ts',
  )
  const named = references.map(({ file }) => file)
  expect(files.filter((name) => !named.includes(`test/faults/${name}`))).toEqual([])
})
