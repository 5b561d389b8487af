import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the bundled programs: next to the server's bundle; in development, `dist`. */
export function programsFolder(): string {
  const here = fileURLToPath(new URL('.', import.meta.url))
  return existsSync(join(here, 'harness.cjs')) ? here : join(here, '../../../dist')
}
