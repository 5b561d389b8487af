import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { insideRoot } from '../base/names.ts'
import type { Manifest, WedgeCode } from '../base/wedge.ts'
import { checkFile, codeFiles, FILE_MOST, Unreadable } from './files.ts'

const ALL_MOST = 8 * FILE_MOST
const FILES_MOST = 256

/** Everything below `workflows/` that a declared workflow may import, by its path there. */
export async function readCode(dir: string, { workflows }: Manifest): Promise<WedgeCode> {
  for (const { name } of workflows) await checkFile(dir, 'workflows', `${name}.mjs`)
  const names = workflows.length > 0 ? (await codeFiles(dir)).sort() : []
  if (names.length > FILES_MOST) throw new Unreadable(`workflows holds more than ${FILES_MOST} files`)
  const files: Record<string, string> = {}
  let left = ALL_MOST
  for (const name of names) {
    const bytes = await readSource(dir, name)
    left -= bytes.length
    if (left < 0) throw new Unreadable(`the files in workflows have more than ${ALL_MOST} bytes in all`)
    files[name] = bytes.toString('utf8')
  }
  return { digest: hash('sha256', JSON.stringify(files)), files }
}

async function readSource(dir: string, name: string): Promise<Buffer> {
  const path = await insideRoot(dir, join('workflows', name))
  if (!path) throw new Unreadable(`workflows/${name} is a link that leads out of the folder, or to nothing`)
  const found = await stat(path)
  if (!found.isFile()) throw new Unreadable(`workflows/${name} is not a file`)
  if (found.size > FILE_MOST) throw new Unreadable(`workflows/${name} has more than ${FILE_MOST} bytes`)
  return readFile(path)
}
