// Turns the comments and types of src/platform/store/tables/*.ts into the descriptions of the tables.
import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'

const TABLES_FOLDER = new URL('../src/platform/store/tables/', import.meta.url)

/** What a column is, by the type that its row has in the code. */
const KINDS = new Map([
  ['JsonText', 'json'],
  ['IsoTime', 'time'],
  ['Day', 'day'],
  ['Flag', 'flag'],
  ['SecretText', 'secret'],
])

/** For each table its comment, and kinds and comments of its columns. */
export function describeTables() {
  const files = readdirSync(TABLES_FOLDER).toSorted()
  const interfaces = files.flatMap((file) => listInterfaces(readFileSync(new URL(file, TABLES_FOLDER), 'utf8')))
  const rows = new Map(interfaces.map((node) => [node.name.text, node]))
  const tables = interfaces.filter(({ name }) => name.text.endsWith('Tables')).flatMap(propertiesOf)
  const described = tables.map((table) => {
    const row = rows.get(table.type?.getText() ?? '')
    if (!row) throw new Error(`${table.name.getText()}: the type of its rows is not an interface`)
    return /** @type {const} */ ([table.name.getText(), describeTable(row)])
  })
  return Object.fromEntries(described)
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
