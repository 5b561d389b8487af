import { expect, test } from 'vitest'
import { parseQuery, RouteTable } from '../../../src/platform/http/route-table.ts'

const PATHS = [
  '/',
  '/*',
  '/tasks',
  '/tasks/:id',
  '/tasks/search',
  '/tasks/:id/events',
  '/files/:id/*',
  '/files/all/:kind',
]

function tableOf(paths: string[]): RouteTable<string> {
  const table = new RouteTable<string>()
  for (const path of paths) table.add('GET', path, path)
  return table
}

/** The path of the route with its parameters; the status of the refusal; null: no such route. */
function find(table: RouteTable<string>, url: string): unknown {
  try {
    const match = table.find('GET', url)
    return match ? [match.path, { ...match.params }] : null
  } catch (error) {
    return (error as { status: number }).status
  }
}

test.each<[string, unknown]>([
  ['/', ['/', {}]],
  ['/tasks', ['/tasks', {}]],
  ['/tasks?limit=1', ['/tasks', {}]],
  ['/tasks#top', ['/tasks', {}]],
  ['/tasks/search', ['/tasks/search', {}]],
  ['/tasks/searching', ['/tasks/:id', { id: 'searching' }]],
  ['/tasks/', ['/tasks/:id', { id: '' }]],
  ['/tasks//events', ['/tasks/:id/events', { id: '' }]],
  ['/tasks/search/events', ['/tasks/:id/events', { id: 'search' }]],
  ['/files/all/pdf', ['/files/all/:kind', { kind: 'pdf' }]],
  ['/files/all/pdf/1', ['/files/:id/*', { id: 'all', '*': 'pdf/1' }]],
  ['/files/1/', ['/files/:id/*', { id: '1', '*': '' }]],
  // Nothing is normalised, so these reach only the route for the rest.
  ['/Tasks', ['/*', { '*': 'Tasks' }]],
  ['//tasks', ['/*', { '*': '/tasks' }]],
  ['/tasks/../tasks', ['/*', { '*': 'tasks/../tasks' }]],
  ['/files/1', ['/*', { '*': 'files/1' }]],
  // A slash that is encoded belongs to its segment.
  ['/%74asks', ['/tasks', {}]],
  ['/tasks%2Fsearch', ['/*', { '*': 'tasks/search' }]],
  ['/tasks/a%2Fb%20c%C3%A9', ['/tasks/:id', { id: 'a/b cé' }]],
  ['/tasks/%2541', ['/tasks/:id', { id: '%41' }]],
  ['/tasks/%zz', 400],
  ['/tasks/%E9', 400],
  [`/tasks/${'x'.repeat(512)}`, ['/tasks/:id', { id: 'x'.repeat(512) }]],
  [`/tasks/${'%2F'.repeat(512)}`, ['/tasks/:id', { id: '/'.repeat(512) }]],
  ['*', ['/', {}]],
  ['http://elsewhere.example/tasks?limit=1', ['/tasks', {}]],
  ['HTTPS://elsewhere.example', ['/', {}]],
  ['http:///tasks', 400],
  ['http://elsewhere.example#/tasks', 400],
  ['http://[/tasks', 400],
])('the URL %s selects its route, whatever the order of the routes', (url, expected) => {
  expect(find(tableOf(PATHS), url)).toEqual(expected)
  expect(find(tableOf(PATHS.toReversed()), url)).toEqual(expected)
})

test('a parameter of more than 512 characters is 414 if no other route takes the path', () => {
  const long = 'x'.repeat(513)
  expect(find(tableOf(['/tasks/:id', '/tasks/:id/events']), `/tasks/${long}/events`)).toBe(414)
  expect(find(tableOf(['/tasks/:id', '/*']), `/tasks/${long}`)).toEqual(['/*', { '*': `tasks/${long}` }])
})

test('a method has its own routes, and the same route cannot be added twice', () => {
  const table = tableOf(['/tasks'])
  expect(table.find('POST', '/tasks')).toBe(undefined)
  expect(() => table.add('GET', '/tasks', 'again')).toThrow('two routes are GET /tasks')
})

test('a parameter with the name of a method of all objects is plain data', () => {
  const match = tableOf(['/:constructor']).find('GET', '/x')
  expect([match?.params['constructor'], match?.params['toString']]).toEqual(['x', undefined])
})

test.each([
  ['', {}],
  ['a=1&b=2', { a: '1', b: '2' }],
  ['a=1&a=2&a=3', { a: ['1', '2', '3'] }],
  ['a=b=c', { a: 'b=c' }],
  ['a&&b=', { a: '', b: '' }],
  ['=x', { '': 'x' }],
  ['a+b=c+d%2B', { 'a b': 'c d+' }],
  ['a=%zz&b=%E9+x', { a: '%zz', b: '%E9 x' }],
  ['%61=%F0%9F%98%80', { a: '😀' }],
])('the query %s is read as its parameters', (query, expected) => {
  expect({ ...parseQuery(query) }).toEqual(expected)
})

test('a parameter of a query named __proto__ is plain data', () => {
  expect(Object.keys(parseQuery('__proto__=1&__proto__=2'))).toEqual(['__proto__'])
})
