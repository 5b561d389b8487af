import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { insideRoot } from '../base/names.ts'

const FILE_MOST = 1024 * 1024
const ALL_MOST = 8 * FILE_MOST
const FILES_MOST = 256
const LEVELS_MOST = 8
/** Files with other names, such as hidden ones, are nobody's workflow and are not taken along. */
const FILE = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.mjs$/
const FOLDER = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/

/** Why the workflows of a wedge cannot be loaded: names the file, so its author knows where to look. */
export class Unloadable extends Error {}

/** Changes when any of the wedge's workflow files does, and costs no reading. */
export async function stampOf(wedgeDir: string): Promise<string> {
  const names = await workflowFiles(wedgeDir)
  return (await Promise.all(names.map((name) => markOf(join(wedgeDir, 'workflows', name), name)))).join('\n')
}

/** Everything below `workflows/` that a workflow may import, by its path there. */
export async function readSources(wedgeDir: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  let left = ALL_MOST
  for (const name of await workflowFiles(wedgeDir)) {
    const bytes = await readSource(wedgeDir, name)
    left -= bytes.length
    if (left < 0) throw new Unloadable(`the files in workflows have more than ${ALL_MOST} bytes in all`)
    files[name] = bytes.toString('utf8')
  }
  return files
}

async function readSource(wedgeDir: string, name: string): Promise<Buffer> {
  const path = await insideRoot(wedgeDir, join('workflows', name))
  if (!path) throw new Unloadable(`workflows/${name} is a link that leads out of the folder, or to nothing`)
  const found = await stat(path)
  if (!found.isFile()) throw new Unloadable(`workflows/${name} is not a file`)
  if (found.size > FILE_MOST) throw new Unloadable(`workflows/${name} has more than ${FILE_MOST} bytes`)
  return readFile(path)
}

async function workflowFiles(wedgeDir: string): Promise<string[]> {
  const names = await filesBelow(join(wedgeDir, 'workflows'), '', LEVELS_MOST)
  if (names.length > FILES_MOST) throw new Unloadable(`workflows holds more than ${FILES_MOST} files`)
  return names.sort()
}

/** Links to folders are not followed: they may lead back, or out. */
async function filesBelow(folder: string, prefix: string, levels: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found = entries.map(async (entry): Promise<string[]> => {
    if (!entry.isDirectory()) return FILE.test(entry.name) ? [prefix + entry.name] : []
    if (levels === 1 || !FOLDER.test(entry.name)) return []
    return filesBelow(join(folder, entry.name), `${prefix}${entry.name}/`, levels - 1)
  })
  return (await Promise.all(found)).flat()
}

async function markOf(path: string, name: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null)
  return found ? `${name} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}` : `${name} -`
}
