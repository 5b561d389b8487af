import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { realpathInside } from '../../../src/platform/base/real-path.ts'
import { isSlug } from '../../../src/platform/base/text.ts'

describe('slugs', () => {
  test.each(['a', '0', 'refunds', 'a-b_c9', 'a'.repeat(64)])('%s is a slug', (name) => {
    expect(isSlug(name)).toBe(true)
  })

  const invalid = ['', '-a', '_a', 'A', 'a.b', 'a/b', '..', 'a b', 'é', 'a\n', 'a\0', 'a'.repeat(65), 'con:']
  test.each(invalid)('%j is not a slug', (name) => {
    expect(isSlug(name)).toBe(false)
  })
})

describe('realpathInside', () => {
  let home = ''
  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'names-')))
    await mkdir(join(home, 'root/folder'), { recursive: true })
    await mkdir(join(home, 'root-beside'))
    await writeFile(join(home, 'root/folder/file.md'), '')
    await writeFile(join(home, 'root-beside/secret.md'), '')
    await symlink('folder/file.md', join(home, 'root/inner.md'))
    await symlink('../root-beside/secret.md', join(home, 'root/outer.md'))
    await symlink(join(home, 'root-beside'), join(home, 'root/away'))
    await symlink('loop', join(home, 'root/loop'))
    await symlink('.', join(home, 'root/self'))
    await symlink('root', join(home, 'alias'))
  })
  afterAll(() => rm(home, { recursive: true, force: true }))

  test.each([
    ['folder/file.md', 'root/folder/file.md'],
    ['folder', 'root/folder'],
    ['inner.md', 'root/folder/file.md'],
    ['folder/../inner.md', 'root/folder/file.md'],
    ['self/self/inner.md', 'root/folder/file.md'],
  ])('the path %s is inside the root', async (name, path) => {
    expect(await realpathInside(join(home, 'root'), name)).toBe(join(home, path))
    expect(await realpathInside(join(home, 'alias'), name)).toBe(join(home, path))
  })

  test.each([
    '',
    '.',
    '..',
    'self',
    'absent.md',
    'folder/file.md/more',
    'outer.md',
    'away/secret.md',
    '../root-beside/secret.md',
    '/etc/passwd',
    'loop',
    'a\0b',
    'a'.repeat(5000),
  ])('the path %.30j is not inside the root', async (name) => {
    expect(await realpathInside(join(home, 'root'), name)).toBe(null)
  })

  test('no path is inside an absent root', async () => {
    expect(await realpathInside(join(home, 'nowhere'), 'a')).toBe(null)
  })

  test('a returned path is always below the root', async () => {
    const part = fc.constantFrom(
      '..',
      '.',
      'folder',
      'away',
      'self',
      'inner.md',
      'secret.md',
      'root',
      'root-beside',
      '',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const path = await realpathInside(join(home, 'root'), parts.join('/'))
        expect(path === null || path.startsWith(join(home, 'root/'))).toBe(true)
      }),
    )
  })
})
