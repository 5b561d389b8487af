import { posix } from 'node:path'

/** The source as read: path below src (`tasks/rows.ts`) to text. */
export type Sources = Map<string, string>

/** A folder may import only itself and what stands before it. `app` and `main` are files. */
const FLOORS = [
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
const APART: Record<string, string[]> = {
  sandbox: ['base', 'config'],
  harness: ['base'],
  'workflow-cell': ['base'],
  cli: ['base'],
  console: [],
  main: [...FLOORS, 'cli'],
}

/** Long by nature: one table after the other. */
const LONG = ['store/migrations.ts', 'store/tables.ts']

const FILE_MOST = 300
const FILE_MEDIAN = 120
const FILE_P90 = 250

/** Imports that go up, or into what stands apart. */
export function wrongImports(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => importsOf(file, text).flatMap((target) => judge(file, target)))
}

/** Each ring of files that need each other to load. Types are not loaded, so an interface may lie with its makers. */
export function rings(sources: Sources): string[] {
  const graph = new Map([...sources].map(([file, text]) => [file, importsOf(file, withoutTypes(text))]))
  const done = new Set<string>()
  return [...graph.keys()].flatMap((file) => ringsFrom(file, graph, [], done))
}

/** Files that break the numbers and habits of the house, each with what is wrong. */
export function wrongFiles(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const code = withoutComments(text).replaceAll(STRING, "''")
    return [
      lines(text) > FILE_MOST && !LONG.includes(file) && `${file} has ${lines(text)} lines, ${FILE_MOST} are the most`,
      /[:<,|&(]\s*any\b(?!\s*[:(.])|\bas any\b/.test(code) && `${file} uses \`any\``,
      /\b(TODO|FIXME)\b/.test(text) && `${file} has a TODO: do it or open an issue`,
      posix.basename(file) === 'index.ts' && `${file} is a barrel: import the file that has the name`,
    ].filter((problem) => problem !== false)
  })
}

export function wrongSizes(sources: Sources): string[] {
  const sizes = [...sources.values()].map(lines).toSorted((a, b) => a - b)
  return [
    { name: 'median', value: quantile(sizes, 0.5), most: FILE_MEDIAN },
    { name: '90th percentile', value: quantile(sizes, 0.9), most: FILE_P90 },
  ]
    .filter(({ value, most }) => value > most)
    .map(({ name, value, most }) => `the ${name} of the files is ${value} lines, ${most} are the most`)
}

function judge(file: string, target: string): string[] {
  const from = folderOf(file)
  const to = folderOf(target)
  if (target.startsWith('../')) return [`${file} imports ${target}, which is outside src`]
  if (!FLOORS.includes(from) && !(from in APART)) return [`${file}: folder '${from}' has no place in test/house.ts`]
  if (from === to) return []
  const allowed = APART[from] ?? FLOORS.slice(0, FLOORS.indexOf(from))
  if (allowed.includes(to)) return []
  return [`${file} imports ${target}, but '${from}' may import only ${allowed.join(', ') || 'nothing'}`]
}

function ringsFrom(file: string, graph: Map<string, string[]>, path: string[], done: Set<string>): string[] {
  const seen = path.indexOf(file)
  if (seen >= 0) return [[...path.slice(seen), file].join(' → ')]
  if (done.has(file)) return []
  const found = (graph.get(file) ?? []).flatMap((next) => ringsFrom(next, graph, [...path, file], done))
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

function lines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

function quantile(sorted: number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0
}
