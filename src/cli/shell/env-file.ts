import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { errorMessage } from '../../base/error-message.ts'
import { KNOWN_SETTINGS } from '../../contract/settings.ts'

/** Relative to the folder in which the program was started. */
export const ENV_FILE_NAME = '.env'

export interface EnvFile {
  /** The settings of the file that the environment does not have. */
  settings: Record<string, string>
  /** Why the file was not read. */
  warning: string | null
}

/**
 * Reads the settings in `.env`. Other variables are left alone, because a file of a folder that was only downloaded must not
 * choose the editor or the libraries of this process. For the same reason SVC_URL is ignored: it says to which server the key
 * of the user is sent.
 */
export function readEnvFile(env: Record<string, string | undefined>, folder = ''): EnvFile {
  const file = join(folder, ENV_FILE_NAME)
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile()) return { settings: {}, warning: null }
  const isOwn = process.getuid === undefined || [process.getuid(), 0].includes(found.uid)
  if (!isOwn) return { settings: {}, warning: '.env was not read, because it belongs to another user' }
  try {
    const entries = Object.entries(parseEnv(readFileSync(file, 'utf8')))
    const settings = entries.flatMap(([name, value]) =>
      isFileSetting(name) && env[name] === undefined && value !== undefined ? [[name, value] as const] : [],
    )
    return { settings: Object.fromEntries(settings), warning: null }
  } catch (error) {
    return { settings: {}, warning: `.env cannot be read: ${errorMessage(error)}` }
  }
}

/** Misspelt settings are passed on, because the service names them at its start. */
const isFileSetting = (name: string) => name !== 'SVC_URL' && (name.startsWith('SVC_') || KNOWN_SETTINGS.includes(name))
