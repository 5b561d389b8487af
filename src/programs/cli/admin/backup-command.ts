import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readDatabaseUrl } from '../../../platform/contract/database-url.ts'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { resolveDataDir } from '../../../platform/contract/settings.ts'
import { quoteForShell } from '../shell/program-name.ts'
import { type CliCommand, type CommandContext, commandArg } from '../shell/command.ts'
import { EXIT_CODE, commandFailed } from '../shell/failure.ts'

export const backupCommand: CliCommand = {
  name: 'backup',
  usage: 'TO',
  summary: 'copy the SQLite store to a folder or a .db file, also while the service runs',
  details: `TO is an existing folder, in which the file name contains the time, or a new file whose name ends in .db. The copy is
complete: to use it, put it as svc.db into another SVC_DATA_DIR. Keep SVC_SECRET_KEY in another place than the backup.
With PostgreSQL the command prints the pg_dump command to use.`,
  argCount: [1, 1],
  async run(call) {
    const { env, server, terminal } = call.context
    const target = commandArg(call, 0)
    if (readDatabaseUrl(env))
      throw commandFailed('the store is PostgreSQL; use pg_dump', pgDumpCommand(env, resolve(target)))
    const file = chooseTargetFile(target)
    try {
      await server.backupSqlite(file)
    } catch (error) {
      const hasStore = existsSync(join(resolveDataDir(env), 'svc.db'))
      const advice = hasStore ? undefined : 'check that SVC_DATA_DIR is the folder that the service uses'
      throw commandFailed(`cannot copy the store: ${errorMessage(error)}`, advice)
    }
    if (terminal.isJson) terminal.printJson({ file, bytes: statSync(file).size })
    else terminal.print(`${file} (${statSync(file).size} bytes)`)
    return EXIT_CODE.ok
  },
}

function pgDumpCommand(env: CommandContext['env'], to: string): string {
  const file = isFolder(to) ? join(to, `${timestampedName()}.dump`) : to.replace(/\.db$/, '.dump')
  const url = env.DATABASE_URL ? '"$DATABASE_URL"' : '"$(cat "$DATABASE_URL_FILE")"'
  return `pg_dump --format=custom --file=${quoteForShell(file)} ${url}`
}

/** A missing path is a file only if it ends in .db, so that a missing folder does not become a file of that name. */
function chooseTargetFile(target: string): string {
  const to = resolve(target)
  if (isFolder(to)) return join(to, `${timestampedName()}.db`)
  if (existsSync(to)) throw commandFailed(`${to} already exists`, 'use a folder, or a file that does not exist')
  const isFile = target.endsWith('.db')
  const folder = isFile ? dirname(to) : to
  if (isFile && isFolder(folder)) return to
  const alternative = isFile ? '' : ', or use a file name that ends in .db'
  throw commandFailed(
    `folder ${folder} does not exist`,
    `create it with: mkdir -p ${quoteForShell(folder)}${alternative}`,
  )
}

const isFolder = (path: string) => existsSync(path) && statSync(path).isDirectory()

const timestampedName = () => `svc-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`
