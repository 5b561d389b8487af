import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { pgbouncer } from '../../../scripts/machine.mjs'
import { serverUser } from '../../postgres.ts'

/** Starts a PgBouncer in front of a database, until the test has finished. Returns the URL of the database through it. */
export async function startPgbouncer(
  databaseUrl: string,
  settings: Record<string, string>,
  databaseOptions = '',
): Promise<string> {
  const program = pgbouncer()
  if (program === null) throw new Error('PgBouncer is not installed: run `npm test`, which installs it or says how')
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'svc-pgbouncer-'))
  const url = new URL(databaseUrl)
  const lines = { ...DEFAULT_SETTINGS, unix_socket_dir: folder, auth_file: join(folder, 'users.txt'), ...settings }
  const files = {
    'users.txt': `"${url.username}" ""\n`,
    'pgbouncer.ini': `[databases]\n* = host=${url.searchParams.get('host')} ${databaseOptions}\n[pgbouncer]\n${Object.entries(
      lines,
    )
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('')}`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
  const child = spawn(program, [join(folder, 'pgbouncer.ini')], { cwd: folder, stdio: 'ignore', ...user })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  await expect.poll(() => existsSync(join(folder, '.s.PGSQL.6432')), { timeout: 30_000 }).toBe(true)
  url.port = '6432'
  url.searchParams.set('host', folder)
  return url.href
}

const DEFAULT_SETTINGS = {
  listen_addr: '',
  listen_port: '6432',
  auth_type: 'trust',
  default_pool_size: '100',
  max_client_conn: '300',
}
