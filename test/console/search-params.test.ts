import { expect, test } from 'vitest'
import { returnPath } from '../../console/src/search-params.ts'

const returnTo = (path: unknown) => returnPath(path, 'https://desk.example').to

test('return path: it keeps the path, query and fragment of a console page', () => {
  expect(returnTo('/tasks/task_1?view=trace#x')).toBe('/tasks/task_1?view=trace#x')
})

test('return path: it ignores every path that a browser would resolve to another site', () => {
  const otherHosts = [
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
  ]
  const notPaths = [
    'https://evil.example/',
    'https://desk.example/',
    'javascript:alert(1)',
    'tasks',
    '/',
    '',
    7,
    undefined,
  ]
  for (const path of [...otherHosts, ...notPaths]) expect(returnTo(path), String(path)).toBeUndefined()
})
