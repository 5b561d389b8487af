import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { bannedWords } from './banned-words.ts'
import {
  AREAS,
  areasOfTree,
  crowdedFolders,
  fileProblems,
  foldersOf,
  fragmentFiles,
  importCycles,
  misplacedRoutes,
  misplacedSql,
  repeatedExports,
  sizeProblems,
  type Sources,
  wrongImports,
} from './layout.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

describe('the source code', () => {
  const sources = new Map([...readTexts(['src'], /\.tsx?$/)].map(([file, text]) => [file.replace(/^src\//, ''), text]))

  test.each([
    ['a folder imports only folders before it', wrongImports],
    ['files do not import each other in a cycle', importCycles],
    ['no folder is crowded', crowdedFolders],
    ['files are short, and have no `any`, no TODO and no barrel', fileProblems],
    ['most files are small', sizeProblems],
    ['a file of fewer than 15 lines has more than one importer', fragmentFiles],
    ['an exported name exists once', repeatedExports],
    ['SQL is only in rows.ts, *-rows.ts and the store', misplacedSql],
    ['routes are in routes.ts or *-routes.ts, and response schemas in view.ts or *-view.ts', misplacedRoutes],
  ])('%s', (_, problemsOf) => {
    expect(problemsOf(sources)).toEqual([])
  })

  test('the areas have the folders of the tree', () => {
    const expected = Object.fromEntries(Object.keys(AREAS).map((area) => [area, foldersOf(area)]))
    expect(areasOfTree(sources)).toEqual(expected)
  })

  test('docs/architecture.md lists the areas with their folders in order, and the tests have the same areas', () => {
    const rows = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8').matchAll(
      /^\| `(\w+)` \| ([^|]*?) ?\| [^|]+ \|$/gm,
    )
    const listed = [...rows].map(([, area = '', folders = '']) => [area, folders.replaceAll('`', '')])
    expect(listed).toEqual(Object.keys(AREAS).map((area) => [area, foldersOf(area).join(' · ')]))
    for (const area of Object.keys(AREAS)) expect(readdirSync(join(ROOT, 'test', area))).not.toEqual([])
  })
})

test('code, texts and docs contain no banned words', () => {
  const folders = [
    'src',
    'client-text',
    'console/src',
    'docs',
    'test',
    'bench',
    'scripts',
    'clients',
    'deploy',
    'wedges',
    'blueprints',
  ]
  const texts = readTexts([...folders, 'README.md', 'CONTRIBUTING.md'], /\.(tsx?|mjs|md|json|html|css|py|sh|service)$/)
  for (const own of ['test/banned-words.ts', 'test/layout.test.ts']) texts.delete(own)
  expect(bannedWords(texts)).toEqual([])
})

test('docs/architecture.md says what is in every folder of an area, and names no other', () => {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')
  const described = [...page.matchAll(/^\| (`\w+\/[^|]+) \|/gm)].flatMap(([, cell = '']) => codeSpans(cell))
  const folders = Object.keys(AREAS).flatMap((area) => foldersOf(area).map((folder) => `${area}/${folder}`))
  expect(described.toSorted()).toEqual(folders.toSorted())
})

test('docs/glossary.md names files that exist, and explains each word once', () => {
  const page = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8')
  const rows = [...page.matchAll(/^\| ([^|]+) \| [^|]+ \| (`[^|]+`) \|/gm)]
  const words = rows.flatMap(([, cell = '']) => cell.split(', '))
  expect(words.toSorted()).toEqual([...new Set(words)].toSorted())
  expect(words).toEqual(
    expect.arrayContaining(['thread', 'channel', 'client', 'case', 'message', 'notifier', 'record']),
  )
  const missing = rows
    .flatMap(([, , files = '']) => codeSpans(files))
    .filter((file) => !existsSync(join(ROOT, 'src', file)))
  expect(missing).toEqual([])
})

const codeSpans = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)

describe('the checks of the layout', () => {
  test('a folder may import itself and folders before it', () => {
    const files = {
      'work/tasks/create.ts': "import { a } from './rows.ts'\nimport type { B } from '../../platform/store/tables.ts'",
      'approvals/requests/ask.ts': "import { MAIL_TEXTS } from '../../../client-text/languages.ts'",
      'main.ts':
        "import '../package.json'\nimport { cli } from './programs/cli/cli.ts'\nimport { app } from './server/app.ts'",
      'programs/harness/loop.ts': "import type { Brief } from '../../platform/contract/agent-protocol.ts'",
      'programs/cli/cli.ts':
        "// import '../../server/app.ts'\nimport { z } from 'zod'\nconst route = '/v1/*' // '../../server/app.ts'",
    }
    expect(wrongImports(toSources(files))).toEqual([])
  })

  test.each([
    ['a later area', 'work/tasks/create.ts', "import { run } from '../../execution/runs/run.ts'"],
    ['a type of a later area', 'work/tasks/create.ts', "import type {\n  Run,\n} from '../../execution/runs/run.ts'"],
    ['a later folder of its area', 'platform/base/ids.ts', "export { config } from '../config/config.ts'"],
    [
      'a later area dynamically',
      'platform/store/open.ts',
      "const all = '/*'\nconst app = await import('../../server/app.ts')",
    ],
    ['the store from the sandbox', 'execution/sandbox/cell.ts', "import { db } from '../../platform/store/open.ts'"],
    [
      'more than base and contract from the harness',
      'programs/harness/main.ts',
      "import '../../platform/config/config.ts'",
    ],
    ['the harness from the service', 'execution/runs/run.ts', "import { loop } from '../../programs/harness/loop.ts'"],
    ['a feature from the command line', 'programs/cli/cli.ts', "import { create } from '../../work/tasks/create.ts'"],
    ['the command line from the server', 'server/app.ts', "import { cli } from '../programs/cli/cli.ts'"],
    ['the console', 'work/tasks/create.ts', "import { api } from '../../../console/src/api/http.ts'"],
    [
      'a text for clients in the sandbox',
      'programs/harness/main.ts',
      "import { en } from '../../../client-text/en.ts'",
    ],
    ['a test', 'work/tasks/create.ts', "import { fixture } from '../../../test/fixture.ts'"],
    ['from a folder that is not in the order', 'work/misc/a.ts', "import { b } from './b.ts'"],
  ])('importing %s is a problem', (_, file, text) => {
    expect(wrongImports(toSources({ [file]: text }))).toHaveLength(1)
  })

  test('a folder with 26 files is a problem', () => {
    const files = Array.from({ length: 26 }, (_, i) => [`work/tasks/${i}.ts`, ''])
    expect(crowdedFolders(toSources(Object.fromEntries(files)))).toEqual([
      'work/tasks has 26 files, at most 25 are allowed',
    ])
  })

  test('a cycle is reported with all its files', () => {
    const files = {
      'tasks/a.ts': "import { b } from './b.ts'",
      'tasks/b.ts': "import type { A } from './a.ts'\nimport { c } from './c.ts'",
      'tasks/c.ts': "export { b } from './b.ts'",
    }
    expect(importCycles(toSources(files))).toEqual(['tasks/b.ts → tasks/c.ts → tasks/b.ts'])
  })

  test('a cycle of types is allowed', () => {
    const files = {
      'sandbox/driver.ts': "import { bwrap } from './bwrap.ts'",
      'sandbox/bwrap.ts': "import type {\n  Cell,\n} from './driver.ts'\nexport type { Cell } from './driver.ts'",
    }
    expect(importCycles(toSources(files))).toEqual([])
  })

  test.each([
    ['a file of 301 lines', 'tasks/a.ts', 'x\n'.repeat(301)],
    ['an `any`', 'tasks/a.ts', 'function f(x: any) {}'],
    ['a cast to `any`', 'tasks/a.ts', 'const x = y as any'],
    ['a TODO', 'tasks/a.ts', '// TODO later'],
    ['a barrel', 'tasks/index.ts', ''],
  ])('%s is a problem', (_, file, text) => {
    expect(fileProblems(toSources({ [file]: text }))).toHaveLength(1)
  })

  test('the word any in comments, strings and names is allowed', () => {
    const files = {
      'tasks/a.ts': "// any: of them\nconst x = { any: 1, text: ': any' }\nconst y = any(x)\n",
    }
    expect(fileProblems(toSources(files))).toEqual([])
  })

  test('the median and the 90th percentile of file lengths are limited', () => {
    const sizes = [10, 121, 122, 260].map((size, i) => [`tasks/${i}.ts`, 'x\n'.repeat(size)])
    expect(sizeProblems(toSources(Object.fromEntries(sizes)))).toEqual([
      'the median of file lengths is 121 lines, at most 120 are allowed',
      'the 90th percentile of file lengths is 260 lines, at most 250 are allowed',
    ])
  })

  test('a short file with one importer is a problem, and one with two is not', () => {
    const files = {
      'tasks/a.ts': "import { b } from './b.ts'\nimport { c } from './c.ts'\nimport { View } from './view.ts'\n",
      'tasks/view.ts': 'x\n',
      'tasks/b.ts': "import type { C } from './c.ts'\n",
      'tasks/c.ts': 'x\n',
    }
    expect(fragmentFiles(toSources(files))).toEqual([
      'tasks/b.ts has 1 lines and one importer: merge it into tasks/a.ts',
    ])
  })

  test('a name that two files export is a problem, and a type with the name of its schema is not', () => {
    const files = {
      'tasks/a.ts': 'export const Task = 1\nexport type Task = number\nexport async function run() {}\n',
      'runs/b.ts': 'export interface run {}\n',
    }
    expect(repeatedExports(toSources(files))).toEqual(["'run' is exported by tasks/a.ts and runs/b.ts"])
  })

  test('SQL outside of rows files and the store is a problem', () => {
    const files = {
      'tasks/rows.ts': "db.selectFrom('tasks')",
      'tasks/state-rows.ts': 'sql<number>`1`',
      'platform/store/open.ts': 'sql`select 1`',
      'tasks/create.ts': "// db.selectFrom('tasks')\n\ndb.deleteFrom('tasks')\nsql<number>`1`\n",
    }
    expect(misplacedSql(toSources(files))).toEqual([
      'tasks/create.ts:3: .deleteFrom( belongs in rows.ts or *-rows.ts',
      'tasks/create.ts:4: sql<number>` belongs in rows.ts or *-rows.ts',
    ])
  })

  test('routes and response schemas in other files than theirs are a problem', () => {
    const files = {
      'tasks/routes.ts':
        "import { defineRead } from '../http/route.ts'\ndefineRead('/', { responses: { 200: TaskView } })",
      'tasks/feedback-routes.ts': 'x\ndefineWrite({ body: z.object({}), responses: { 201: z.object({ id }) } })',
      'tasks/create.ts': "import { defineWrite } from '../http/route.ts'",
    }
    expect(misplacedRoutes(toSources(files))).toEqual([
      'tasks/feedback-routes.ts:2: a response schema belongs in view.ts',
      'tasks/create.ts defines routes: only routes.ts and *-routes.ts may',
    ])
  })

  test.each([
    ['// Whoever asks', 'Whoever'],
    ['const openMetricsDoor = 1', 'Door'],
    ['the bells ring', 'bells'],
    ['const MOST_LINES = 5', 'MOST_'],
    ['the newest, of late', 'of late'],
  ])('the line %j contains a banned word', (text, word) => {
    expect(bannedWords(new Map([['a.md', `\n${text}`]]))).toEqual([
      `a.md:2: '${word}' is a banned word (test/banned-words.ts)`,
    ])
  })

  test('the names of icons may contain a banned word where they are imported, and nowhere else', () => {
    const text = "import {\n  Bell as NotifyIcon,\n} from 'lucide-react'\nconst icon = Bell\n"
    expect(bannedWords(new Map([['a.tsx', text]]))).toEqual(["a.tsx:4: 'Bell' is a banned word (test/banned-words.ts)"])
  })

  test.each(['a warehouse', 'an indoor plane', 'const ALMOST_ALL = 1', 'three planes', 'doorstep', 'impulse'])(
    'the line %j contains no banned word',
    (text) => {
      expect(bannedWords(new Map([['a.md', text]]))).toEqual([])
    },
  )
})

/** Texts by their path below the root, of all files below these paths with such a name. */
function readTexts(paths: string[], name: RegExp): Map<string, string> {
  const files = paths.flatMap((path) =>
    statSync(join(ROOT, path)).isFile()
      ? [path]
      : readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' }).map((file) => join(path, file)),
  )
  const named = files.filter((file) => name.test(file) && !file.includes('node_modules')).toSorted()
  return new Map(named.map((file) => [file.replaceAll('\\', '/'), readFileSync(join(ROOT, file), 'utf8')]))
}

function toSources(files: Record<string, string>): Sources {
  return new Map(Object.entries(files))
}
