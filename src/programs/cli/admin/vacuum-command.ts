import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { readDatabaseUrl } from '../../../platform/contract/database-url.ts'
import { resolveDataDir } from '../../../platform/contract/settings.ts'
import type { CliCommand } from '../shell/command.ts'
import { EXIT_CODE, commandFailed } from '../shell/failure.ts'

export const vacuumCommand: CliCommand = {
  name: 'vacuum',
  usage: '',
  summary: 'rewrite the SQLite store without free space, while the service is stopped',
  details: `A file that an earlier version created needs this once; from then on the service gives freed space back to the disk by
itself. The command needs as much free disk space as the file has. With PostgreSQL, autovacuum does this.`,
  argCount: [0, 0],
  async run({ context: { env, server, terminal } }) {
    if (readDatabaseUrl(env)) throw commandFailed('the store is PostgreSQL, where autovacuum does this')
    const file = join(resolveDataDir(env), 'svc.db')
    if (!existsSync(file))
      throw commandFailed(`${file} does not exist`, 'check that SVC_DATA_DIR is the folder that the service uses')
    const { bytesBefore, bytesAfter } = await server.vacuumSqlite().catch((error: unknown) => {
      throw commandFailed(`cannot rewrite the store: ${errorMessage(error)}`, 'stop the service first')
    })
    if (terminal.isJson) terminal.printJson({ file, bytes_before: bytesBefore, bytes_after: bytesAfter })
    else terminal.print(`${file} (${bytesBefore} bytes before, ${bytesAfter} bytes now)`)
    return EXIT_CODE.ok
  },
}
