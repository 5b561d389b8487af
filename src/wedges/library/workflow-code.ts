import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { realpathInside } from '../../platform/base/real-path.ts'
import type { WedgeManifest, WedgeCode } from '../../platform/contract/wedge/wedge-manifest.ts'
import { requireWedgeFile, listCodeFiles, MAX_LOADED_FILE_BYTES, wedgeFileError } from './wedge-files.ts'

const MAX_CODE_BYTES = 8 * MAX_LOADED_FILE_BYTES
const MAX_CODE_FILES = 256

/** The files below `workflows/`, which the declared workflows may import. */
export async function readWorkflowCode(dir: string, { workflows }: WedgeManifest): Promise<WedgeCode> {
  for (const { name } of workflows) await requireWedgeFile(dir, 'workflows', `${name}.mjs`)
  const names = workflows.length > 0 ? (await listCodeFiles(dir)).sort() : []
  if (names.length > MAX_CODE_FILES) throw wedgeFileError('workflows', `contains more than ${MAX_CODE_FILES} files`)
  const files: Record<string, string> = {}
  let bytesLeft = MAX_CODE_BYTES
  for (const name of names) {
    const bytes = await readCodeFile(dir, name)
    bytesLeft -= bytes.length
    if (bytesLeft < 0) throw wedgeFileError('workflows', `has files with more than ${MAX_CODE_BYTES} bytes in total`)
    files[name] = bytes.toString('utf8')
  }
  return { digest: hash('sha256', JSON.stringify(files)), files }
}

async function readCodeFile(dir: string, name: string): Promise<Buffer> {
  const file = join('workflows', name)
  const path = await realpathInside(dir, file)
  if (!path) throw wedgeFileError(file, 'is a link to a target outside the folder or to no file')
  const found = await stat(path)
  if (!found.isFile()) throw wedgeFileError(file, 'is not a file')
  if (found.size > MAX_LOADED_FILE_BYTES) throw wedgeFileError(file, `has more than ${MAX_LOADED_FILE_BYTES} bytes`)
  return readFile(path)
}
