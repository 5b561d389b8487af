import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isSlug } from '../../platform/base/text.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { Preset } from './preset.ts'

/** The presets by name. Reads the files on every call: few people create connections, and nobody waits at a start. */
export async function readPresets(): Promise<Preset[]> {
  const folder = presetFolder()
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted()
  return Promise.all(names.map((name) => readPreset(join(folder, name))))
}

export async function requirePreset(name: string): Promise<Preset> {
  const file = join(presetFolder(), `${name}.json`)
  if (!isSlug(name) || !existsSync(file)) throw badRequest(`field 'preset' names no preset: '${name}' does not exist`)
  return readPreset(file)
}

/** The files are part of the package and tested, so an invalid one is an internal error. */
async function readPreset(file: string): Promise<Preset> {
  return Preset.parse(JSON.parse(await readFile(file, 'utf8')))
}

/** Beside the folder of the server's bundle; in development, in the root of the sources. */
function presetFolder(): string {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const packaged = join(here, '..', 'presets')
  return existsSync(join(packaged, 'stripe.json')) ? packaged : join(here, '../../../presets')
}
