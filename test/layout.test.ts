import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { importCycles, type Sources, fileProblems, wrongImports, sizeProblems } from './layout.ts'

describe('the source', () => {
  const sources = readSources()

  test('imports only downwards', () => {
    expect(wrongImports(sources)).toEqual([])
  })

  test('has no ring of files that import each other', () => {
    expect(importCycles(sources)).toEqual([])
  })

  test('keeps to the limits of a file, has no `any`, no TODO and no barrel', () => {
    expect(fileProblems(sources)).toEqual([])
  })

  test('is made of small files', () => {
    expect(sizeProblems(sources)).toEqual([])
  })
})

describe('the checks of the house', () => {
  test('let a folder import itself and what stands before it', () => {
    const house = {
      'tasks/create.ts': "import { a } from './rows.ts'\nimport type { B } from '../store/tables.ts'",
      'main.ts': "import '../package.json'\nimport { cli } from './cli/cli.ts'\nimport { app } from './app.ts'",
      'harness/loop.ts': "import type { Brief } from '../base/protocol.ts'",
      'cli/cli.ts': "// import '../app.ts'\nimport { z } from 'zod'\nconst route = '/v1/*' // '../app.ts'",
    }
    expect(wrongImports(sourcesOf(house))).toEqual([])
  })

  test.each([
    ['a floor above', 'tasks/create.ts', "import { run } from '../runs/run.ts'"],
    ['a type of a floor above', 'tasks/create.ts', "import type {\n  Run,\n} from '../runs/run.ts'"],
    ['a neighbour to the right', 'base/ids.ts', "export { config } from '../config/config.ts'"],
    ['a floor above only when needed', 'store/open.ts', "const all = '/*'\nconst app = await import('../app.ts')"],
    ['the store from the sandbox', 'sandbox/cell.ts', "import { db } from '../store/open.ts'"],
    ['more than the base from the harness', 'harness/main.ts', "import '../config/config.ts'"],
    ['the harness from the service', 'runs/run.ts', "import { loop } from '../harness/loop.ts'"],
    ['a feature from the command line', 'cli/cli.ts', "import { create } from '../tasks/create.ts'"],
    ['anything from the console', 'console/page.ts', "import type { Json } from '../base/json.ts'"],
    ['a test', 'tasks/create.ts', "import { fixture } from '../../test/fixture.ts'"],
    ['from a folder that nobody placed', 'misc/a.ts', "import { b } from './b.ts'"],
  ])('refuse to import %s', (_, file, text) => {
    expect(wrongImports(sourcesOf({ [file]: text }))).toHaveLength(1)
  })

  test('tell the whole ring', () => {
    const house = {
      'tasks/a.ts': "import { b } from './b.ts'",
      'tasks/b.ts': "import type { A } from './a.ts'\nimport { c } from './c.ts'",
      'tasks/c.ts': "export { b } from './b.ts'",
    }
    expect(importCycles(sourcesOf(house))).toEqual(['tasks/b.ts → tasks/c.ts → tasks/b.ts'])
  })

  test('see no ring where only types go round', () => {
    const house = {
      'sandbox/driver.ts': "import { bwrap } from './bwrap.ts'",
      'sandbox/bwrap.ts': "import type {\n  Cell,\n} from './driver.ts'\nexport type { Cell } from './driver.ts'",
    }
    expect(importCycles(sourcesOf(house))).toEqual([])
  })

  test.each([
    ['a file of 301 lines', 'tasks/a.ts', 'x\n'.repeat(301)],
    ['an `any`', 'tasks/a.ts', 'function f(x: any) {}'],
    ['a cast to `any`', 'tasks/a.ts', 'const x = y as any'],
    ['a TODO', 'tasks/a.ts', '// TODO later'],
    ['a barrel', 'tasks/index.ts', ''],
  ])('refuse %s', (_, file, text) => {
    expect(fileProblems(sourcesOf({ [file]: text }))).toHaveLength(1)
  })

  test('let words be words', () => {
    const house = {
      'tasks/a.ts': "// any: of them\nconst x = { any: 1, text: ': any' }\nconst y = any(x)\n",
      'store/tables.ts': 'x\n'.repeat(301),
    }
    expect(fileProblems(sourcesOf(house))).toEqual([])
  })

  test('measure the middle and the long end of the files', () => {
    const sizes = [10, 121, 122, 260].map((size, i) => [`tasks/${i}.ts`, 'x\n'.repeat(size)])
    expect(sizeProblems(sourcesOf(Object.fromEntries(sizes)))).toEqual([
      'the median of the files is 121 lines, 120 are the most',
      'the 90th percentile of the files is 260 lines, 250 are the most',
    ])
  })
})

function readSources(): Sources {
  const root = fileURLToPath(new URL('../src/', import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  return new Map(files.toSorted().map((file) => [file.replaceAll('\\', '/'), readFileSync(root + file, 'utf8')]))
}

function sourcesOf(files: Record<string, string>): Sources {
  return new Map(Object.entries(files))
}
