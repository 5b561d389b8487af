// Turns the comments and types of src/platform/store/tables/*.ts into the descriptions of the tables.
//   npm run table-comments     writes src/platform/store/schema/table-descriptions.json and the list of views in docs/sql.md
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const TABLES_FOLDER = new URL('../src/platform/store/tables/', import.meta.url)
export const DESCRIPTIONS_FILE = fileURLToPath(
  new URL('../src/platform/store/schema/table-descriptions.json', import.meta.url),
)

export const VIEWS_PAGE = fileURLToPath(new URL('../docs/sql.md', import.meta.url))
const VIEW_LIST = /(?<=^<!-- views -->\n)[\s\S]*?(?=^<!-- end of views -->$)/m

/** What a column is, by the type that its row has in the code. */
const KINDS = new Map([
  ['JsonText', 'json'],
  ['IsoTime', 'time'],
  ['Day', 'day'],
  ['Flag', 'flag'],
  ['SecretText', 'secret'],
])

/** The descriptions as the text of a JSON file: for each table its comment, and kinds and comments of its columns. */
export function describeTables() {
  const files = readdirSync(TABLES_FOLDER).toSorted()
  const interfaces = files.flatMap((file) => listInterfaces(readFileSync(new URL(file, TABLES_FOLDER), 'utf8')))
  const rows = new Map(interfaces.map((node) => [node.name.text, node]))
  const tables = interfaces.filter(({ name }) => name.text.endsWith('Tables')).flatMap(propertiesOf)
  const described = tables.map((table) => {
    const row = rows.get(table.type?.getText() ?? '')
    if (!row) throw new Error(`${table.name.getText()}: the type of its rows is not an interface`)
    return [table.name.getText(), describeTable(row)]
  })
  return `${JSON.stringify(Object.fromEntries(described), null, 2)}\n`
}

/** @param {string} source */
const listInterfaces = (source) =>
  ts.createSourceFile('tables.ts', source, ts.ScriptTarget.Latest, true).statements.filter(ts.isInterfaceDeclaration)

/** @param {ts.InterfaceDeclaration} row */
function describeTable(row) {
  const columns = propertiesOf(row)
  const comments = columns.map((column) => [column.name.getText(), commentOf(column)])
  return {
    comment: commentOf(row),
    kinds: Object.fromEntries(columns.map((column) => [column.name.getText(), kindOf(column)])),
    comments: Object.fromEntries(comments.filter(([, comment]) => comment !== '')),
  }
}

/** @param {ts.InterfaceDeclaration} node */
const propertiesOf = (node) => node.members.filter(ts.isPropertySignature)

/** @param {ts.PropertySignature} column */
function kindOf(column) {
  const type = column.type?.getText().replace(/ \| null$/, '') ?? ''
  return KINDS.get(type) ?? (type === 'number' || /^\d$/.test(type) ? 'number' : 'text')
}

/** @param {ts.Node} node */
function commentOf(node) {
  const texts = ts.getJSDocCommentsAndTags(node).map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
  return texts.join(' ').replaceAll(/\s+/g, ' ')
}

/**
 * The page with the list of the views.
 * @param {string} page
 * @param {Record<string, { comment: string }>} descriptions
 * @param {ReadonlySet<string>} withoutView
 */
export function listViews(page, descriptions, withoutView) {
  const rows = Object.entries(descriptions)
    .filter(([table]) => !withoutView.has(table))
    .map(([table, { comment }]) => `| \`${table}\` | ${comment.replaceAll('|', '\\|')} |\n`)
  return page.replace(VIEW_LIST, () => `\n| view | a row is |\n|---|---|\n${rows.join('')}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(DESCRIPTIONS_FILE, describeTables())
  const { TABLE_DESCRIPTIONS, TABLES_WITHOUT_VIEW } = await import('../src/platform/store/postgres/readable-views.ts')
  writeFileSync(VIEWS_PAGE, listViews(readFileSync(VIEWS_PAGE, 'utf8'), TABLE_DESCRIPTIONS, TABLES_WITHOUT_VIEW))
}
