import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { postgresFolder } from '../scripts/machine.mjs'

/** The URL of the server of this test run, which `global-setup.ts` starts once, for all test processes. */
export const POSTGRES_URL_VARIABLE = 'SVC_TEST_POSTGRES_URL'

/**
 * Runs the server, and starts a watcher that kills it and removes its folder when the input is closed without a line: then
 * a test run that is killed leaves nothing behind. The watcher is detached, because the server would treat the exit of a
 * child process as the crash of one of its own.
 */
const GUARDED_COMMAND = `
  exec 3<&0
  ( { read -r _ <&3 || { kill -QUIT $$; sleep 1; rm -rf "$PWD"; } } 2>/dev/null & )
  exec "$@" 3<&- </dev/null`

/** A separate server for a test that stops or kills it. */
export interface PostgresServer {
  /** Contains the data and the Unix socket. The server does not listen on the network. */
  folder: string
  url: string
  user: ServerUser
  settings: Record<string, string>
  /** Null while the server is down. */
  child: ChildProcess | null
}

type ServerUser = { uid?: number; gid?: number }

/** Starts a new server without databases. The caller calls `removePostgres` at the end. */
export async function createPostgres(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const args = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
  return openPostgres('initdb', args, { ...FAST_SETTINGS, ...settings })
}

/**
 * Starts a standby of a server with `REPLICATION_SETTINGS`, and lets every commit wait until the standby has it. It
 * becomes the primary server by `pg_promote`.
 */
export async function createStandby(primary: PostgresServer): Promise<PostgresServer> {
  const args = ['-h', primary.folder, '-U', 'postgres', '--write-recovery-conf', '--checkpoint=fast', '--no-sync']
  const standby = await openPostgres('pg_basebackup', args, primary.settings)
  await runAdminStatement(primary.url, `alter system set synchronous_standby_names = '*'`)
  await runAdminStatement(primary.url, 'select pg_reload_conf()')
  return standby
}

/** `program` creates the data folder. */
async function openPostgres(
  program: string,
  args: readonly string[],
  settings: Record<string, string>,
): Promise<PostgresServer> {
  const user = serverUser()
  const folder = await mkdtemp(join(tmpdir(), 'svc-pg-'))
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid)
  await promisify(execFile)(postgresProgram(program), [...args, '-D', join(folder, 'data')], { cwd: folder, ...user })
  const server = { folder, url: urlOf(folder, 'postgres'), user, settings, child: null }
  await startPostgres(server)
  return server
}

/** Starts a server that was stopped or killed, with its data. Resolves when it accepts connections. */
export async function startPostgres(server: PostgresServer): Promise<void> {
  const settings = Object.entries(server.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [postgresProgram('postgres'), '-D', join(server.folder, 'data'), '-k', server.folder, ...settings]
  const child = spawn('sh', ['-c', GUARDED_COMMAND, 'sh', ...command], {
    cwd: server.folder,
    stdio: ['pipe', 'ignore', 'pipe'],
    ...server.user,
  })
  server.child = child
  await waitUntilReady(child)
}

/** A fast shutdown: the server closes all connections and writes all data. */
export async function stopPostgres(server: PostgresServer): Promise<void> {
  await endServer(server, 'SIGINT')
}

/** A crash: the server writes nothing more, and the next start recovers from the write-ahead log. */
export async function killPostgres(server: PostgresServer): Promise<void> {
  await endServer(server, 'SIGQUIT')
}

export async function removePostgres(server: PostgresServer): Promise<void> {
  await killPostgres(server)
  await rm(server.folder, { recursive: true, force: true })
}

/** Creates a database on the server of this test run, empty or as a copy of one without connections. Returns its URL. */
export async function createDatabase(template?: string): Promise<string> {
  const server = process.env[POSTGRES_URL_VARIABLE]
  if (server === undefined) throw new Error(`${POSTGRES_URL_VARIABLE} is not set: run this test through vitest`)
  return createDatabaseOn(server, template)
}

export async function createDatabaseOn(serverUrl: string, template?: string): Promise<string> {
  const name = `svc_${randomBytes(8).toString('hex')}`
  const from = template === undefined ? 'template0' : new URL(template).pathname.slice(1)
  await runAdminStatement(serverUrl, `create database ${name} template "${from}" strategy file_copy`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

export async function dropDatabase(url: string): Promise<void> {
  const server = new URL(url)
  const name = server.pathname.slice(1)
  server.pathname = '/postgres'
  await runAdminStatement(server.href, `drop database if exists "${name}" with (force)`)
}

/** What is left of a database after its rows were deleted. */
export interface EmptiedDatabase {
  /** A hash of all tables, indexes and columns. */
  schema: string
  /** The disk space of the tables, which also holds the deleted rows. */
  bytes: number
}

/** Ends all connections to a migrated database and deletes all rows, but those of the migrations. */
export async function emptyDatabase(url: string): Promise<EmptiedDatabase> {
  return withClient(url, async (client) => {
    await client.query(DELETE_ALL_ROWS)
    const { rows } = await client.query<EmptiedDatabase>(DATABASE_STATE)
    const [left] = rows
    if (!left) throw new Error('the server did not return the state of the database')
    return left
  })
}

/** In the role of a replica the server does not check foreign keys, so the order of the tables does not matter. */
const DELETE_ALL_ROWS = `
  select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid();
  set session_replication_role = replica;
  do $$
    declare name regclass;
    begin
      for name in select oid from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely%'
          and pg_relation_size(oid) > 0
      loop execute format('delete from %s', name); end loop;
    end $$`

const DATABASE_STATE = `
  select md5(string_agg(format('%s %s %s %s', relname, attnum, attname, atttypid), ',' order by relname, attnum)) as schema,
    (select sum(pg_total_relation_size(oid))::float8 from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r') as bytes
  from pg_attribute join pg_class on pg_class.oid = attrelid
  where relnamespace = 'public'::regnamespace and attnum > 0`

export async function runAdminStatement(url: string, statement: string): Promise<void> {
  await withClient(url, (client) => client.query(statement))
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function urlOf(folder: string, database: string): string {
  return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(folder)}`
}

function postgresProgram(name: string): string {
  const folder = postgresFolder()
  if (folder === null)
    throw new Error('no PostgreSQL server is installed: run `npm test`, which installs it or says how')
  return join(folder, name)
}

/** Fast, because the server does not flush to the disk. A killed server loses no commit: the kernel keeps the pages. */
const FAST_SETTINGS = {
  listen_addresses: '',
  max_connections: '300',
  shared_buffers: '64MB',
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
}

/** For a server that gets a standby. */
export const REPLICATION_SETTINGS = { wal_level: 'replica', max_wal_senders: '4', hot_standby: 'on' }

/** PostgreSQL and PgBouncer refuse to run as root, so root starts them as the user `postgres` or `nobody`. */
export function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: userId('-u', name), gid: userId('-g', name) }
    } catch {}
  }
  throw new Error('PostgreSQL refuses to run as root, and this machine has neither a user `postgres` nor `nobody`')
}

function userId(flag: '-u' | '-g', name: string): number {
  return Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
}

async function waitUntilReady(child: ChildProcess): Promise<void> {
  let log = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      // The rest of the log is read and dropped, because a full pipe would block the server.
      if (log.length < 65_536) log += text
      if (/ready to accept (read-only )?connections/.test(log)) resolve()
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)))
  })
}

async function endServer(server: PostgresServer, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  const { child } = server
  server.child = null
  if (child === null || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.stdin?.end('keep\n')
  child.kill(signal)
  await ended
}
