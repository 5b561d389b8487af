import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  readSetting,
  resolveBlueprintsDir,
  resolveDataDir,
  resolveWedgesDir,
  secretKeyFile,
  type SettingsEnv,
} from '../../contract/settings.ts'
import type { CliCommand } from '../shell/command.ts'
import { EXIT_CODE } from '../shell/failure.ts'

export const initCommand: CliCommand = {
  name: 'init',
  usage: '',
  summary: 'prepare a folder: the key that encrypts stored secrets, and the example wedges',
  details: `If SVC_WEDGES_DIR (default: ./wedges) does not exist, it gets the example wedges, and SVC_BLUEPRINTS_DIR the example
blueprints. Writes a new key to secret.key in SVC_DATA_DIR, readable only by its owner. The service uses it when SVC_SECRET_KEY and
SVC_SECRET_KEY_FILE are not set. An existing key is kept. Keep a copy of the file in another place
than the backups: without the key, stored secrets cannot be decrypted.`,
  argCount: [0, 0],
  async run({ context: { env, terminal, packageRoot, programName: svc } }) {
    const examples = copyExamples(env, packageRoot)
    const file = secretKeyFile(env)
    const created = readSetting(env, 'SVC_SECRET_KEY') === undefined
    if (created) writeKey(file)
    if (terminal.isJson) terminal.printJson({ created, file: created || existsSync(file) ? file : null, examples })
    else {
      for (const folder of examples) terminal.print(`created ${folder}, with the examples`)
      terminal.print(created ? `created ${file}` : 'there is a key already; it was not changed')
    }
    if (!created || !(env.DATABASE_URL || existsSync(join(resolveDataDir(env), 'svc.db')))) return EXIT_CODE.ok
    // The service has run with a temporary key, which cannot be used again.
    terminal.note(
      `restart the service and run \`${svc} audit adopt\` once; secrets that were stored before must be entered again`,
    )
    return EXIT_CODE.ok
  },
}

/** Fails if the file exists, so that a key in use is never replaced. */
function writeKey(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
}

/** Copies the examples unless there are wedges, and returns the new folders. */
function copyExamples(env: SettingsEnv, packageRoot: string): string[] {
  const wedges = resolveWedgesDir(env)
  if (existsSync(wedges)) return []
  const copies: [string, string][] = [
    [join(packageRoot, 'wedges'), wedges],
    [join(packageRoot, 'blueprints'), resolveBlueprintsDir(env)],
  ]
  return copies.flatMap(([from, to]) => {
    if (existsSync(to)) return []
    cpSync(from, to, { recursive: true })
    return [to]
  })
}
