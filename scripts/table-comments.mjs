// Writes the list of views in docs/sql.md: npm run table-comments
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { TABLES_WITHOUT_VIEW } from '../src/platform/store/postgres/readable-views.ts'
import { describeTables } from './table-descriptions.mjs'

const VIEWS_PAGE = fileURLToPath(new URL('../docs/sql.md', import.meta.url))
const VIEW_LIST = /(?<=^<!-- views -->\n)[\s\S]*?(?=^<!-- end of views -->$)/m

/**
 * The page with the list of the views.
 * @param {string} page
 */
export function listViews(page) {
  const rows = Object.entries(describeTables())
    .filter(([table]) => !TABLES_WITHOUT_VIEW.has(table))
    .map(([table, { comment }]) => `| \`${table}\` | ${comment.replaceAll('|', '\\|')} |\n`)
  return page.replace(VIEW_LIST, () => `\n| view | a row is |\n|---|---|\n${rows.join('')}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(VIEWS_PAGE, listViews(readFileSync(VIEWS_PAGE, 'utf8')))
