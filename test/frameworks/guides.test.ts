import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { pagesIn } from '../docs/pages.ts'
import { NPM_GUIDES, REPRESENTATIVE_GUIDES } from './guide-list.ts'
import { installNpmPackages, linkNpmPackages } from './npm-packages.ts'
import { expectRefund, runGuide } from './run-guide.ts'
import { inMatrix } from '../matrix.ts'

beforeAll(installNpmPackages)

describe.each(inMatrix(NPM_GUIDES, REPRESENTATIVE_GUIDES))(
  'the guide $guide, with a model of the $wire API',
  (options) => {
    test('does the refund desk with one approval, and the log shows it', async () => {
      expectRefund(await runGuide({ ...options, installPackages: linkNpmPackages }))
    })
  },
)

test('every page of a framework is executed by a test', () => {
  const sources = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.ts'))
  const text = sources.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join('\n')
  const guides = pagesIn('docs/frameworks').map((path) => basename(path, '.md'))
  const executed = (guide: string) => new RegExp(`['/]${guide}(\\.md)?'`).test(text)
  expect(guides.filter((guide) => guide !== 'README' && !executed(guide))).toEqual([])
})
