import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { page, pages, ROOT } from './pages.ts'

describe.each(pages())('%s', (path) => {
  test('links only to what is there', () => {
    const links = [...page(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
    const relative = links.filter((target) => !/^[a-z]+:/.test(target))
    expect(relative.filter((target) => !resolves(path, target))).toEqual([])
  })
})

test('every page of docs can be reached from the README', () => {
  const readme = page('README.md')
  expect(pages().filter((path) => path.startsWith('docs/') && !readme.includes(`(${path})`))).toEqual([])
})

/** The file, and in it the heading that is named after `#`. */
function resolves(from: string, target: string): boolean {
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
