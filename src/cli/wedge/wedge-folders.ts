import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isSlug } from '../../base/slug.ts'
import { resolveWedgesDir } from '../../contract/settings.ts'
import { usageError } from '../shell/failure.ts'

type Env = Record<string, string | undefined>

/** One wedge by its folder or, in the wedges folder, by its name. */
export function findWedgeFolder(env: Env, given: string): string {
  const folder = [resolve(given), join(resolveWedgesDir(env), given)].find(isWedgeFolder)
  if (!folder)
    throw usageError(
      `there is no wedge.json in '${given}'`,
      (svc) => `make a wedge with: ${svc} wedge new ${isSlug(given) ? given : 'NAME'}`,
    )
  return folder
}

/** The wedge given, or all wedges below the folder given; by default this folder, else the wedges folder. */
export function findWedgeFolders(env: Env, given: string | undefined): string[] {
  if (given === undefined && isWedgeFolder(resolve('.'))) return [resolve('.')]
  const root = given === undefined ? resolveWedgesDir(env) : resolve(given)
  const below = !isWedgeFolder(root) && existsSync(root) ? listWedgeFolders(root) : []
  if (below.length > 0) return below
  if (given === undefined)
    throw usageError(`there are no wedges in '${root}'`, (svc) => `make one with: ${svc} wedge new NAME`)
  return [findWedgeFolder(env, given)]
}

const isWedgeFolder = (folder: string) => existsSync(join(folder, 'wedge.json'))

export const listWedgeFolders = (root: string) =>
  readdirSync(root)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(root, name))
    .filter(isWedgeFolder)
