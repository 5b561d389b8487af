import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import {
  readSetting,
  resolveBlueprintsDir,
  resolveDataDir,
  resolveWedgesDir,
  secretKeyFile,
  type SettingsEnv,
} from '../../../platform/contract/settings.ts'
import { type CliCommand, type CommandCall, commandArg } from '../shell/command.ts'
import { EXIT_CODE } from '../shell/failure.ts'
import { quoteForShell } from '../shell/program-name.ts'
import { createProjectFolder } from './project-folder.ts'

export const initCommand: CliCommand = {
  name: 'init',
  usage: '[DIR]',
  summary: 'create a project in a new folder, or a key and examples in the current one',
  details: `With DIR, a new or empty folder gets an example wedge, a package.json, and a .env with a
new SVC_SECRET_KEY that only its owner can read. Then: cd DIR, npm install, npx svc serve.

Without DIR, the current folder is prepared. If SVC_WEDGES_DIR (default: ./wedges) does not
exist, it gets the example wedges, and SVC_BLUEPRINTS_DIR the example blueprints. Writes a new
key to secret.key in SVC_DATA_DIR, readable only by its owner. The service uses it when
SVC_SECRET_KEY and SVC_SECRET_KEY_FILE are not set. An existing key is kept. Keep a copy of the
file in another place than the backups: without the key, stored secrets cannot be decrypted.`,
  argCount: [0, 1],
  async run(call) {
    const { env, terminal, packageRoot, programName: svc } = call.context
    if (call.args.length > 0) return initProject(call)
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

function initProject(call: CommandCall): number {
  const { terminal, packageRoot } = call.context
  const dir = commandArg(call, 0)
  const files = createProjectFolder(dir, packageRoot, newSecretKey())
  if (terminal.isJson) terminal.printJson({ project: resolve(dir), files })
  else {
    for (const file of files) terminal.print(join(dir, file))
    const change = resolve(dir) === resolve('') ? '' : `cd ${quoteForShell(dir)} && `
    terminal.note(`next: ${change}npm install && npx svc serve`)
    terminal.note('then: README.md in the folder says how to run a task')
  }
  return EXIT_CODE.ok
}

const newSecretKey = () => randomBytes(32).toString('base64')

/** Fails if the file exists, so that a key in use is never replaced. */
function writeKey(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, `${newSecretKey()}\n`, { mode: 0o600, flag: 'wx' })
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
