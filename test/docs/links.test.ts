import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { page, pages, pagesIn, relativeLinks, ROOT } from './pages.ts'

describe.each(pages())('%s', (path) => {
  test('every relative link has a target', () => {
    expect(relativeLinks(path).filter((target) => !hasTarget(path, target))).toEqual([])
  })
})

test('README.md links to every page of the documentation', () => {
  const readme = page('README.md')
  const guides = pagesIn('docs/frameworks').filter((path) => basename(path) !== 'README.md')
  const others = pages().filter((path) => path.startsWith('docs/') && !guides.includes(path))
  expect(others.filter((path) => !readme.includes(`(${path})`))).toEqual([])
  const index = page('docs/frameworks/README.md')
  expect(guides.filter((path) => !index.includes(`(${basename(path)})`))).toEqual([])
})

test('every example request names a wedge and a task type that come with the service', () => {
  const named = /"wedge\\?": \\?"([\w-]+)\\?", \\?"task_type\\?": \\?"(\w+)/g
  const examples = pages().flatMap((path) =>
    [...page(path).matchAll(named)].map(([, wedge, type]) => ({ path, wedge, type })),
  )
  expect(examples.length).toBeGreaterThan(5)
  const exists = ({ wedge, type = '' }: (typeof examples)[number]) =>
    existsSync(join(ROOT, `wedges/${wedge}/wedge.json`)) &&
    type in JSON.parse(page(`wedges/${wedge}/wedge.json`)).task_types
  expect(examples.filter((example) => !exists(example))).toEqual([])
})

/** Checks that the file exists and contains the heading after `#`. */
function hasTarget(from: string, target: string): boolean {
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? from : join(dirname(from), file)
  if (!existsSync(join(ROOT, path))) return false
  return anchor === undefined || headings(page(path)).includes(anchor)
}

const headings = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  )
