import { posix } from 'node:path'

/** Source files by their path below src, such as `work/tasks/rows.ts`. */
export type Sources = Map<string, string>

/** The areas of `src` and their folders. A folder may import only itself and folders before it; '.' are the area's own files. */
export const AREAS: Record<string, string> = {
  platform: 'base · contract · config · store · ctx · http · egress',
  audit: '.',
  identity: 'limits · organisations · authentication · accounts · vault',
  wedges: 'library · knowledge',
  work: 'events · files · tasks · records · cases',
  connections: 'connection · auth · calls · operations · mail · mcp · broker · executors · actions · presets · setup',
  customers: 'clients · brand · threads · channels',
  approvals: 'lifecycle · policy · requests · effects · people · decisions · suggestions · notifications',
  conversations: 'team · portal · widget',
  execution: 'sandbox · models · workflows · runs',
  automation: 'schedules · webhooks · blueprints · retention',
  insight: 'needs-you · traces · analytics · telemetry',
  server: 'mcp · planes · replica · .',
}

const IMPORT_ORDER = Object.entries(AREAS).flatMap(([area, folders]) =>
  folders.split(' · ').map((folder) => (folder === '.' ? area : `${area}/${folder}`)),
)

/** Folders that run in another process, or must not depend on the service, may import only these. */
const ISOLATED_FOLDERS: Record<string, string[]> = {
  'execution/sandbox': ['platform/base', 'platform/contract', 'platform/config'],
  'programs/harness': ['platform/base', 'platform/contract'],
  'programs/workflow-cell': ['platform/base', 'platform/contract'],
  'programs/cli': ['platform/base', 'platform/contract'],
  // Starts the command line, and hands it the server.
  main: [...IMPORT_ORDER, 'programs/cli'],
}

const MAX_FILE_LINES = 300
const MAX_MEDIAN_LINES = 120
const MAX_P90_LINES = 250
const MIN_LINES_FOR_ONE_IMPORTER = 15

const MAX_FILES_PER_FOLDER = 25

/** Folders with too many files of their own, which should be split by subject. */
export function crowdedFolders(sources: Sources): string[] {
  const counts = new Map<string, number>()
  for (const file of sources.keys()) counts.set(posix.dirname(file), (counts.get(posix.dirname(file)) ?? 0) + 1)
  return [...counts]
    .filter(([, count]) => count > MAX_FILES_PER_FOLDER)
    .map(([folder, count]) => `${folder} has ${count} files, at most ${MAX_FILES_PER_FOLDER} are allowed`)
}

/** The areas of the tree, each with its folders in the order of the table. */
export function areasOfTree(sources: Sources): Record<string, string[]> {
  const places = new Set([...sources.keys()].map(folderOf))
  return Object.fromEntries(
    Object.keys(AREAS).map((area) => {
      const found = [...places]
        .filter((place) => place.startsWith(`${area}/`))
        .map((place) => place.slice(area.length + 1))
      const order = foldersOf(area)
      return [area, found.toSorted((a, b) => order.indexOf(a) - order.indexOf(b))]
    }),
  )
}

/** The folders of an area in the order of imports, without the area's own files. */
export const foldersOf = (area: string): string[] => (AREAS[area] ?? '').split(' · ').filter((folder) => folder !== '.')

/** Imports of a folder that is not allowed. */
export function wrongImports(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => importsOf(file, text).flatMap((target) => checkImport(file, target)))
}

/** Files that import each other by value. Types are erased, so cycles of types are allowed. */
export function importCycles(sources: Sources): string[] {
  const graph = new Map([...sources].map(([file, text]) => [file, importsOf(file, withoutTypes(text))]))
  const done = new Set<string>()
  return [...graph.keys()].flatMap((file) => cyclesFrom(file, graph, [], done))
}

/** Files that are too long, use `any`, contain a TODO or only re-export. */
export function fileProblems(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const code = withoutStrings(withoutComments(text))
    return [
      countLines(text) > MAX_FILE_LINES &&
        `${file} has ${countLines(text)} lines, at most ${MAX_FILE_LINES} are allowed`,
      /[:<,|&(]\s*any\b(?!\s*[:(.])|\bas any\b/.test(code) && `${file} uses \`any\``,
      /\b(TODO|FIXME)\b/.test(text) && `${file} has a TODO: do it or open an issue`,
      posix.basename(file) === 'index.ts' && `${file} is a barrel: import the file that defines the name`,
    ].filter((problem) => problem !== false)
  })
}

export function sizeProblems(sources: Sources): string[] {
  const sizes = [...sources.values()].map(countLines).toSorted((a, b) => a - b)
  return [
    { name: 'median', value: quantile(sizes, 0.5), max: MAX_MEDIAN_LINES },
    { name: '90th percentile', value: quantile(sizes, 0.9), max: MAX_P90_LINES },
  ]
    .filter(({ value, max }) => value > max)
    .map(({ name, value, max }) => `the ${name} of file lengths is ${value} lines, at most ${max} are allowed`)
}

const VIEW_FILE = /(?:^|\/|-)view\.ts$/

/** Short files with one importer, which should be part of that importer. Views are separate from routes at any length. */
export function fragmentFiles(sources: Sources): string[] {
  const importers = new Map<string, Set<string>>()
  for (const [file, text] of sources) {
    for (const target of importsOf(file, text)) importers.set(target, (importers.get(target) ?? new Set()).add(file))
  }
  return [...sources].flatMap(([file, text]) => {
    const [only, ...others] = importers.get(file) ?? []
    if (VIEW_FILE.test(file)) return []
    if (!only || others.length > 0 || countLines(text) >= MIN_LINES_FOR_ONE_IMPORTER) return []
    return [`${file} has ${countLines(text)} lines and one importer: merge it into ${only}`]
  })
}

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm

/** Names that two or more files export. */
export function repeatedExports(sources: Sources): string[] {
  const files = new Map<string, Set<string>>()
  for (const [file, text] of sources) {
    for (const [, name = ''] of text.matchAll(EXPORT)) files.set(name, (files.get(name) ?? new Set()).add(file))
  }
  return [...files]
    .filter(([, exporters]) => exporters.size > 1)
    .map(([name, exporters]) => `'${name}' is exported by ${[...exporters].join(' and ')}`)
}

const SQL =
  /\.(?:selectFrom|insertInto|updateTable|deleteFrom)\(|\bsql(?:<[^>`]*>)?`|\bprepare(?:Query|Lock|BatchedRead)\b/

/** SQL outside of `rows.ts`, `*-rows.ts` and the store. */
export function misplacedSql(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    if (file.startsWith('platform/store/') || /(?:^|\/|-)rows\.ts$/.test(file)) return []
    return linesWith(withoutComments(text), SQL).map(
      ([line, found]) => `${file}:${line}: ${found} belongs in rows.ts or *-rows.ts`,
    )
  })
}

const ROUTE_IMPORT =
  /^import \{[^}]*\b(?:define(?:Route|ProjectRead|Read|Write)|openRoute|portalRoute|writeOrganisation)\b/m
const RESPONSE_SCHEMA = /\bz\s*\.(?:object|strictObject|looseObject|record|union|discriminatedUnion|enum)\(/

/** Routes outside of `routes.ts` and `*-routes.ts`, and response schemas that are not in a `*view.ts`. */
export function misplacedRoutes(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    if (file.startsWith('platform/http/')) return []
    const code = withoutComments(text)
    const isRoutes = /(?:^|\/|-)routes\.ts$/.test(file)
    if (!isRoutes && ROUTE_IMPORT.test(code)) return [`${file} defines routes: only routes.ts and *-routes.ts may`]
    return isRoutes ? inlineResponses(code).map((line) => `${file}:${line}: a response schema belongs in view.ts`) : []
  })
}

function inlineResponses(code: string): number[] {
  return [...code.matchAll(/\bresponses: \{/g)].flatMap(({ index, 0: start }) => {
    const block = blockAfter(code, index + start.length)
    return RESPONSE_SCHEMA.test(block) ? [lineAt(code, index)] : []
  })
}

/** The text up to the brace that closes the block. */
function blockAfter(code: string, start: number): string {
  let depth = 1
  let at = start
  for (; at < code.length && depth > 0; at++) {
    if (code[at] === '{') depth++
    if (code[at] === '}') depth--
  }
  return code.slice(start, at)
}

function checkImport(file: string, target: string): string[] {
  const from = folderOf(file)
  const to = folderOf(target)
  // The server, the portal and the chat window share the texts that clients read.
  if (target.startsWith('../client-text/') && IMPORT_ORDER.includes(from)) return []
  if (target.startsWith('../')) return [`${file} imports ${target}, which is outside src`]
  if (!IMPORT_ORDER.includes(from) && !(from in ISOLATED_FOLDERS)) {
    return [`${file}: folder '${from}' is missing in the areas of test/layout.ts`]
  }
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

/** The TypeScript files that a file imports, as paths below src. */
function importsOf(file: string, text: string): string[] {
  return [...withoutComments(text).matchAll(IMPORT)]
    .map((match) => match[2] ?? match[4] ?? '')
    .filter((name) => name.startsWith('.') && /\.tsx?$/.test(name))
    .map((name) => posix.join(posix.dirname(file), name))
}

/** Comments become line breaks, so that line numbers stay the same. */
function withoutComments(text: string): string {
  return text.replaceAll(
    STRING_OR_COMMENT,
    (all, string: string | undefined) => string ?? '\n'.repeat(countLineBreaks(all)),
  )
}

const withoutStrings = (text: string): string => text.replaceAll(STRING, "''")

function withoutTypes(text: string): string {
  return text.replaceAll(/^\s*(?:import|export) type\b[^'"`;=]*?\bfrom\b.*$/gm, '')
}

/** The first match of each line, with its line number. */
export function linesWith(text: string, pattern: RegExp): [number, string][] {
  return text.split('\n').flatMap((line, i): [number, string][] => {
    const found = pattern.exec(line)?.[0]
    return found === undefined ? [] : [[i + 1, found]]
  })
}

const lineAt = (text: string, index: number): number => countLineBreaks(text.slice(0, index)) + 1

const countLineBreaks = (text: string): number => text.split('\n').length - 1

/** `area/folder`; the area alone for a file of the area itself. */
function folderOf(file: string): string {
  const [area = '', folder, ...rest] = file.replace(/\.tsx?$/, '').split('/')
  return rest.length > 0 ? `${area}/${folder}` : area
}

function countLines(text: string): number {
  return countLineBreaks(text) + (text.endsWith('\n') ? 0 : 1)
}

function quantile(sorted: number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0
}
