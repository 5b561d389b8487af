import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Set by `npm run test:quick`. */
export const IS_QUICK = process.env['QUICK_TESTS'] === '1'

/** Folders whose tests start services: the core of the contract, as far as it fits into the time. */
const FOLDERS_WITH_SERVICES = ['test/work/tasks/', 'test/approvals/decisions/', 'test/approvals/policy/', 'test/audit/']

const STARTS_SERVICE = /from '[./\w-]*\/(app|gated-app|test-context|[a-z-]+-app|run-svc)\.ts'/
/** What a file names that needs a browser, PostgreSQL, a sandbox, another process, or a wait by the real clock. */
const NEEDS_MORE = [
  /console-browser|service-process|mail-server|fake-provider|model-proxy|usable-drivers|run-cell|tcp-proxy|proxied-store/,
  /'postgres'|postgres\.ts'|postgres-store|createMigratedDatabase|bwrap/,
  /createServer|spawn|execFile|setTimeout|sleep\(|skipIf|runIf/,
]
/** Folders and files that take long although they name nothing of this. */
const SLOW = /^test\/(faults|frameworks|execution\/(sandbox|workflows)|audit\/long-chain|platform\/store\/both-stores)/

/** The test files of `npm run test:quick`. */
export function listQuickFiles(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((file) => join('test', file))
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules') && isQuick(file))
}

function isQuick(file: string): boolean {
  const text = readFileSync(file, 'utf8')
  if (file === 'test/layout.test.ts') return true
  if (SLOW.test(file) || NEEDS_MORE.some((pattern) => pattern.test(text))) return false
  return !STARTS_SERVICE.test(text) || FOLDERS_WITH_SERVICES.some((folder) => file.startsWith(folder))
}
