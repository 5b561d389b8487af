import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { realpathInside } from '../base/real-path.ts'
import type { WedgeManifest, WedgeCode } from '../contract/wedge-manifest.ts'
import { requireWedgeFile, listCodeFiles, MAX_LOADED_FILE_BYTES, WedgeFileError } from './wedge-files.ts'

const MAX_CODE_BYTES = 8 * MAX_LOADED_FILE_BYTES
const MAX_CODE_FILES = 256

/** The files below `workflows/`, which the declared workflows may import. */
export async function readWorkflowCode(dir: string, { workflows }: WedgeManifest): Promise<WedgeCode> {
  for (const { name } of workflows) await requireWedgeFile(dir, 'workflows', `${name}.mjs`)
  const names = workflows.length > 0 ? (await listCodeFiles(dir)).sort() : []
  if (names.length > MAX_CODE_FILES) throw new WedgeFileError(`workflows contains more than ${MAX_CODE_FILES} files`)
  const files: Record<string, string> = {}
  let bytesLeft = MAX_CODE_BYTES
  for (const name of names) {
    const bytes = await readCodeFile(dir, name)
    bytesLeft -= bytes.length
    if (bytesLeft < 0)
      throw new WedgeFileError(`the files in workflows have more than ${MAX_CODE_BYTES} bytes in total`)
    files[name] = bytes.toString('utf8')
  }
  return { digest: hash('sha256', JSON.stringify(files)), files }
}

async function readCodeFile(dir: string, name: string): Promise<Buffer> {
  const path = await realpathInside(dir, join('workflows', name))
  if (!path) throw new WedgeFileError(`workflows/${name} is a link to a target outside the folder or to no file`)
  const found = await stat(path)
  if (!found.isFile()) throw new WedgeFileError(`workflows/${name} is not a file`)
  if (found.size > MAX_LOADED_FILE_BYTES)
    throw new WedgeFileError(`workflows/${name} has more than ${MAX_LOADED_FILE_BYTES} bytes`)
  return readFile(path)
}
