import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { page, ROOT } from './pages.ts'

const rows = page('docs/reliability.md')
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))

/** Each file that a row names, with the sentences that follow it. */
const proofs = rows.flatMap((row) =>
  [...row.matchAll(/`(test\/[^`]+)`: ([^;|]+)/g)].map(([, file = '', names = '']) => ({
    file,
    names: [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
  })),
)

test('every fault of the table has a test, and every test that it names is there', () => {
  expect(rows.map((row) => /^\| (\d+)/.exec(row)?.[1])).toEqual(rows.map((_, i) => String(i + 1)))
  for (const row of rows) expect(row).toMatch(/`test\/[^`]+`: "/)
  const missing = proofs.flatMap(({ file, names }) => {
    const text = existsSync(join(ROOT, file)) ? page(file) : ''
    return names.filter((name) => !text.includes(name)).map((name) => `${file}: ${name}`)
  })
  expect(missing).toEqual([])
})

test('every file of faults stands in the table', () => {
  const files = readdirSync(join(ROOT, 'test/faults')).filter(
    (name) => name.endsWith('.test.ts') && name !== 'proxy.test.ts',
  )
  const named = proofs.map(({ file }) => file)
  expect(files.filter((name) => !named.includes(`test/faults/${name}`))).toEqual([])
})
