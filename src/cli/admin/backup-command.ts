import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readDatabaseUrl } from '../../contract/database-url.ts'
import { errorMessage } from '../../base/error-message.ts'
import { resolveDataDir } from '../../contract/settings.ts'
import { quoteForShell } from '../shell/program-name.ts'
import { type CliCommand, type CommandContext, commandArg } from '../shell/command.ts'
import { EXIT_CODE, commandFailed } from '../shell/failure.ts'

export const backupCommand: CliCommand = {
  name: 'backup',
  usage: 'TO',
  summary: 'copy the SQLite store to a folder or a .db file, also while the service runs',
  details: `TO is a folder that is there, in which the copy is named by the time, or a new file whose name ends in .db. The copy is
complete: start a service on it by naming it svc.db in another SVC_DATA_DIR. Keep SVC_SECRET_KEY apart from it. For
PostgreSQL it prints the command of pg_dump.`,
  argCount: [1, 1],
  async run(call) {
    const { env, server, terminal } = call.context
    const given = commandArg(call, 0)
    if (readDatabaseUrl(env)) throw commandFailed('the store is PostgreSQL', pgDumpCommand(env, resolve(given)))
    const to = chooseTargetFile(given)
    try {
      await server.backupSqlite(to)
    } catch (error) {
      const isThere = existsSync(join(resolveDataDir(env), 'svc.db'))
      const advice = isThere ? undefined : 'is SVC_DATA_DIR the one that the service uses?'
      throw commandFailed(`the store cannot be copied: ${errorMessage(error)}`, advice)
    }
    if (terminal.isJson) terminal.printJson({ file: to, bytes: statSync(to).size })
    else terminal.print(`${to} (${statSync(to).size} bytes)`)
    return EXIT_CODE.ok
  },
}

function pgDumpCommand(env: CommandContext['env'], to: string): string {
  const file = isFolder(to) ? join(to, `${timestampedName()}.dump`) : to.replace(/\.db$/, '.dump')
  const url = env.DATABASE_URL ? '"$DATABASE_URL"' : '"$(cat "$DATABASE_URL_FILE")"'
  return `pg_dump --format=custom --file=${quoteForShell(file)} ${url}`
}

/** By its ending alone: a folder that somebody forgot to make must not become a file of that name. */
function chooseTargetFile(given: string): string {
  const to = resolve(given)
  if (isFolder(to)) return join(to, `${timestampedName()}.db`)
  if (existsSync(to)) throw commandFailed(`${to} exists already`, 'name a folder, or a file that does not exist')
  const isFile = given.endsWith('.db')
  const folder = isFile ? dirname(to) : to
  if (isFile && isFolder(folder)) return to
  const otherwise = isFile ? '' : ', or name a file that ends in .db'
  throw commandFailed(`there is no folder ${folder}`, `make it with: mkdir -p ${quoteForShell(folder)}${otherwise}`)
}

const isFolder = (path: string) => existsSync(path) && statSync(path).isDirectory()

const timestampedName = () => `svc-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`
