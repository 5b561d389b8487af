import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { databaseUrl } from '../base/database-url.ts'
import { messageOf } from '../base/message-of.ts'
import { dataDir } from '../base/settings.ts'
import { quoted } from './called-as.ts'
import { type Command, type Shell, word } from './command.ts'
import { EXIT, failed } from './failure.ts'

export const backup: Command = {
  name: 'backup',
  usage: 'TO',
  summary: 'copy the SQLite store to a folder or a .db file, also while the service runs',
  details: `TO is a folder that is there, in which the copy is named by the time, or a new file whose name ends in .db. The copy is
complete: start a service on it by naming it svc.db in another SVC_DATA_DIR. Keep SVC_SECRET_KEY apart from it. For
PostgreSQL it prints the command of pg_dump.`,
  words: [1, 1],
  async run(call) {
    const { env, server, terminal } = call.shell
    const given = word(call, 0)
    if (databaseUrl(env)) throw failed('the store is PostgreSQL', dumpInto(env, resolve(given)))
    const to = fileFor(given)
    try {
      await server.backupSqlite(to)
    } catch (error) {
      const isThere = existsSync(join(dataDir(env), 'svc.db'))
      const advice = isThere ? undefined : 'is SVC_DATA_DIR the one that the service uses?'
      throw failed(`the store cannot be copied: ${messageOf(error)}`, advice)
    }
    if (terminal.json) terminal.tell({ file: to, bytes: statSync(to).size })
    else terminal.say(`${to} (${statSync(to).size} bytes)`)
    return EXIT.ok
  },
}

function dumpInto(env: Shell['env'], to: string): string {
  const file = isFolder(to) ? join(to, `${timed()}.dump`) : to.replace(/\.db$/, '.dump')
  const url = env.DATABASE_URL ? '"$DATABASE_URL"' : '"$(cat "$DATABASE_URL_FILE")"'
  return `pg_dump --format=custom --file=${quoted(file)} ${url}`
}

/** By its ending alone: a folder that somebody forgot to make must not become a file of that name. */
function fileFor(given: string): string {
  const to = resolve(given)
  if (isFolder(to)) return join(to, `${timed()}.db`)
  if (existsSync(to)) throw failed(`${to} exists already`, 'name a folder, or a file that does not exist')
  const isFile = given.endsWith('.db')
  const folder = isFile ? dirname(to) : to
  if (isFile && isFolder(folder)) return to
  const otherwise = isFile ? '' : ', or name a file that ends in .db'
  throw failed(`there is no folder ${folder}`, `make it with: mkdir -p ${quoted(folder)}${otherwise}`)
}

const isFolder = (path: string) => existsSync(path) && statSync(path).isDirectory()

const timed = () => `svc-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`
