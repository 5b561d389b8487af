import { posix } from 'node:path'

/** The source as read: path below src (`tasks/rows.ts`) to text. */
export type Sources = Map<string, string>

/** A folder may import only itself and what stands before it. `app` and `main` are files. */
const IMPORT_ORDER = [
  'base · config · store · ctx · http',
  'audit · accounts · wedges · events',
  'knowledge · connections · records',
  'tasks',
  'approvals · cases · clients · schedules · webhooks',
  'sandbox · models · workflows · runs · blueprints · reports · mcp · telemetry',
  'planes',
  'app · main',
].flatMap((floor) => floor.split(' · '))

/** What runs elsewhere, or must stay apart, may import only these. */
const ISOLATED_FOLDERS: Record<string, string[]> = {
  sandbox: ['base', 'config'],
  harness: ['base'],
  'workflow-cell': ['base'],
  cli: ['base'],
  console: [],
  main: [...IMPORT_ORDER, 'cli'],
}

/** Long by nature: one table after the other. */
const LONG_FILES = ['store/schema/migrations.ts', 'store/tables.ts']

const MAX_FILE_LINES = 300
const MAX_MEDIAN_LINES = 120
const MAX_P90_LINES = 250

/** Imports that go up, or into what stands apart. */
export function wrongImports(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => importsOf(file, text).flatMap((target) => checkImport(file, target)))
}

/** Each ring of files that need each other to load. Types are not loaded, so an interface may lie with its makers. */
export function importCycles(sources: Sources): string[] {
  const graph = new Map([...sources].map(([file, text]) => [file, importsOf(file, withoutTypes(text))]))
  const done = new Set<string>()
  return [...graph.keys()].flatMap((file) => cyclesFrom(file, graph, [], done))
}

/** Files that break the numbers and habits of the house, each with what is wrong. */
export function fileProblems(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const code = withoutComments(text).replaceAll(STRING, "''")
    return [
      countLines(text) > MAX_FILE_LINES &&
        !LONG_FILES.includes(file) &&
        `${file} has ${countLines(text)} lines, ${MAX_FILE_LINES} are the most`,
      /[:<,|&(]\s*any\b(?!\s*[:(.])|\bas any\b/.test(code) && `${file} uses \`any\``,
      /\b(TODO|FIXME)\b/.test(text) && `${file} has a TODO: do it or open an issue`,
      posix.basename(file) === 'index.ts' && `${file} is a barrel: import the file that has the name`,
    ].filter((problem) => problem !== false)
  })
}

export function sizeProblems(sources: Sources): string[] {
  const sizes = [...sources.values()].map(countLines).toSorted((a, b) => a - b)
  return [
    { name: 'median', value: quantile(sizes, 0.5), most: MAX_MEDIAN_LINES },
    { name: '90th percentile', value: quantile(sizes, 0.9), most: MAX_P90_LINES },
  ]
    .filter(({ value, most }) => value > most)
    .map(({ name, value, most }) => `the ${name} of the files is ${value} lines, ${most} are the most`)
}

function checkImport(file: string, target: string): string[] {
  const from = folderOf(file)
  const to = folderOf(target)
  if (target.startsWith('../')) return [`${file} imports ${target}, which is outside src`]
  if (!IMPORT_ORDER.includes(from) && !(from in ISOLATED_FOLDERS))
    return [`${file}: folder '${from}' has no place in test/layout.ts`]
  if (from === to) return []
  const allowed = ISOLATED_FOLDERS[from] ?? IMPORT_ORDER.slice(0, IMPORT_ORDER.indexOf(from))
  if (allowed.includes(to)) return []
  return [`${file} imports ${target}, but '${from}' may import only ${allowed.join(', ') || 'nothing'}`]
}

function cyclesFrom(file: string, graph: Map<string, string[]>, path: string[], done: Set<string>): string[] {
  const seen = path.indexOf(file)
  if (seen >= 0) return [[...path.slice(seen), file].join(' → ')]
  if (done.has(file)) return []
  const found = (graph.get(file) ?? []).flatMap((next) => cyclesFrom(next, graph, [...path, file], done))
  done.add(file)
  return found
}

const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g
const STRING_OR_COMMENT = new RegExp(`(${STRING.source})|//.*|/\\*[^]*?\\*/`, 'g')
const IMPORT = /^\s*(?:import|export)\b[^'"`;=]*?\bfrom\s*(['"])(.+?)\1|\bimport\s*\(?\s*(['"])(.+?)\3/gm

/** The TypeScript files of ours that a file names, as paths below src. */
function importsOf(file: string, text: string): string[] {
  return [...withoutComments(text).matchAll(IMPORT)]
    .map((match) => match[2] ?? match[4] ?? '')
    .filter((name) => name.startsWith('.') && /\.tsx?$/.test(name))
    .map((name) => posix.join(posix.dirname(file), name))
}

function withoutComments(text: string): string {
  return text.replaceAll(STRING_OR_COMMENT, (_, string: string | undefined) => string ?? '')
}

function withoutTypes(text: string): string {
  return text.replaceAll(/^\s*(?:import|export) type\b[^'"`;=]*?\bfrom\b.*$/gm, '')
}

function folderOf(file: string): string {
  const [first = ''] = file.split('/')
  return first.replace(/\.tsx?$/, '')
}

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

function quantile(sorted: number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0
}
