import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isSlug } from '../../../platform/base/text.ts'
import { resolveWedgesDir } from '../../../platform/contract/settings.ts'
import { WedgeManifest } from '../../../platform/contract/wedge/wedge-manifest.ts'
import { commandFailed, usageError } from '../shell/failure.ts'
import { quoteForShell } from '../shell/program-name.ts'

type Env = Record<string, string | undefined>

/** Finds one wedge by its folder, or by its name in the wedges folder. */
export function findWedgeFolder(env: Env, folderOrName: string): string {
  const folder = [resolve(folderOrName), join(resolveWedgesDir(env), folderOrName)].find(isWedgeFolder)
  if (!folder)
    throw usageError(
      `there is no wedge.json in '${folderOrName}'`,
      (svc) => `create a wedge with: ${svc} wedge new ${isSlug(folderOrName) ? folderOrName : 'NAME'}`,
    )
  return folder
}

/** Finds one wedge, or all wedges in a folder. Without an argument: the current folder, else the wedges folder. */
export function findWedgeFolders(env: Env, folderOrName: string | undefined): string[] {
  if (folderOrName === undefined && isWedgeFolder(resolve('.'))) return [resolve('.')]
  const root = folderOrName === undefined ? resolveWedgesDir(env) : resolve(folderOrName)
  const folders = !isWedgeFolder(root) && existsSync(root) ? listWedgeFolders(root) : []
  if (folders.length > 0) return folders
  if (folderOrName === undefined)
    throw usageError(`there are no wedges in '${root}'`, (svc) => `create one with: ${svc} wedge new NAME`)
  return [findWedgeFolder(env, folderOrName)]
}

/** Reads a `wedge.json` without errors. */
export function readWedgeManifest(folder: string): WedgeManifest {
  try {
    return WedgeManifest.parse(JSON.parse(readFileSync(join(folder, 'wedge.json'), 'utf8')))
  } catch {
    throw commandFailed(
      `the wedge in ${folder} has errors`,
      (svc) => `list them with: ${svc} wedge check ${quoteForShell(folder)}`,
    )
  }
}

const isWedgeFolder = (folder: string) => existsSync(join(folder, 'wedge.json'))

export const listWedgeFolders = (root: string) =>
  readdirSync(root)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(root, name))
    .filter(isWedgeFolder)
