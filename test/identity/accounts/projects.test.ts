import { expect, test } from 'vitest'
import { toProjectSlug } from '../../../src/identity/organisations/projects.ts'

test.each([
  ['Refunds', 'refunds'],
  ['Café — Zürich & Co.', 'cafe-zurich-co'],
  ['  two  words ', 'two-words'],
  ['prj_01hz', 'prj-01hz'],
  ['東京', 'project'],
  ['x'.repeat(200), 'x'.repeat(56)],
  [`${'x'.repeat(55)} y`, 'x'.repeat(55)],
])('the slug of %j is %s', (name, slug) => {
  expect(toProjectSlug(name)).toBe(slug)
})
