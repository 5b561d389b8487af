import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { page, pages, ROOT } from './pages.ts'

describe.each(pages())('%s', (path) => {
  test('every relative link has a target', () => {
    const links = [...page(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
    const relative = links.filter((target) => !/^[a-z]+:/.test(target))
    expect(relative.filter((target) => !hasTarget(path, target))).toEqual([])
  })
})

test('README.md links to every page of the documentation', () => {
  const readme = page('README.md')
  expect(pages().filter((path) => path.startsWith('docs/') && !readme.includes(`(${path})`))).toEqual([])
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
