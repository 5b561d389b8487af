import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createPostgres, removePostgres, POSTGRES_URL_VARIABLE } from './postgres.ts'
import { IS_QUICK } from './quick-files.ts'
import { RUN_FOLDER_VARIABLE } from './run-folder.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Starts one PostgreSQL server for the whole test run. Each test file creates its own databases on it. */
export default async function setup(): Promise<() => Promise<void>> {
  execFileSync(process.execPath, [join(root, 'scripts/install.mjs'), 'test'], { stdio: 'inherit' })
  // Programs inside the sandbox are bundles. The tests must run bundles of the current sources.
  if (!isBuilt()) {
    execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--programs'], { stdio: 'inherit' })
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-run-'))
  process.env[RUN_FOLDER_VARIABLE] = folder
  const server = IS_QUICK ? null : await createPostgres()
  if (server) process.env[POSTGRES_URL_VARIABLE] = server.url
  return async () => {
    if (server) await removePostgres(server)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Whether the last build is newer than all sources, as after the build of `npm test`. */
function isBuilt(): boolean {
  const built = changedAt('dist/.built')
  // A folder changes when a file is added, removed or renamed.
  return ['src', 'scripts'].every((folder) =>
    ['.', ...readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })].every(
      (file) => changedAt(join(folder, file)) < built,
    ),
  )
}

const changedAt = (file: string) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
