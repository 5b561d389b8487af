import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isSlug } from '../base/names.ts'
import { wedgesDir } from '../base/settings.ts'
import { misused } from './failure.ts'

type Env = Record<string, string | undefined>

/** One wedge by its folder or, in the wedges folder, by its name. */
export function wedgeFolder(env: Env, given: string): string {
  const folder = [resolve(given), join(wedgesDir(env), given)].find(isWedge)
  if (!folder)
    throw misused(
      `there is no wedge.json in '${given}'`,
      (svc) => `make a wedge with: ${svc} wedge new ${isSlug(given) ? given : 'NAME'}`,
    )
  return folder
}

/** The wedge given, or all wedges below the folder given; by default this folder, else the wedges folder. */
export function wedgeFolders(env: Env, given: string | undefined): string[] {
  if (given === undefined && isWedge(resolve('.'))) return [resolve('.')]
  const root = given === undefined ? wedgesDir(env) : resolve(given)
  const below = !isWedge(root) && existsSync(root) ? wedgesBelow(root) : []
  if (below.length > 0) return below
  if (given === undefined)
    throw misused(`there are no wedges in '${root}'`, (svc) => `make one with: ${svc} wedge new NAME`)
  return [wedgeFolder(env, given)]
}

const isWedge = (folder: string) => existsSync(join(folder, 'wedge.json'))

export const wedgesBelow = (root: string) =>
  readdirSync(root)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(root, name))
    .filter(isWedge)
