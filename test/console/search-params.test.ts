import { expect, test } from 'vitest'
import { returnPath } from '../../console/src/search-params.ts'

const at = (path: unknown) => returnPath(path, 'https://desk.example').to

test('a page of the console can be come back to, with what stands in its query', () => {
  expect(at('/tasks/task_1?view=trace#x')).toBe('/tasks/task_1?view=trace#x')
})

test('what a browser would take for another site is no page of the console', () => {
  const others = ['//evil.example', '/\\evil.example', '/\t/evil.example', '/.//evil.example', '/x/..//evil.example']
  const none = ['https://evil.example/', 'https://desk.example/', 'javascript:alert(1)', 'tasks', '/', '', 7, undefined]
  for (const path of [...others, ...none]) expect(at(path), String(path)).toBeUndefined()
})
