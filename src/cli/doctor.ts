import { existsSync } from 'node:fs'
import { databaseUrl } from '../base/database-url.ts'
import { messageOf } from '../base/message-of.ts'
import { dataDir, SECRET_SETTINGS, settingOf, wedgesDir } from '../base/settings.ts'
import { checkWedge } from './check-wedge.ts'
import { quoted } from './called-as.ts'
import type { Command, Shell } from './command.ts'
import { EXIT } from './failure.ts'
import { type Diagnosis, fine, lacking, sick } from './diagnosis.ts'
import { bubblewrap, disk, node, userNamespaces } from './machine.ts'
import { unknownSettings } from './unknown-settings.ts'
import { wedgesBelow } from './wedge-folders.ts'

export const doctor: Command = {
  name: 'doctor',
  usage: '',
  summary: 'say what this machine lacks, and how to get it',
  details: 'Ends with 1 when the service could not work as it is set up; what is merely advised does not count.',
  words: [0, 0],
  async run({ shell }) {
    const { terminal, env, svc } = shell
    const all = [
      node(),
      bubblewrap(),
      userNamespaces(),
      disk(dataDir(env)),
      ...unknownSettings(env).map((sentence) => lacking('settings', sentence, 'correct its name, or unset it')),
      ...(await settings(env)),
      await wedges(env, svc),
    ]
    for (const diagnosis of all) {
      if (terminal.json) terminal.tell(diagnosis)
      else show(shell, diagnosis)
    }
    return all.some(({ level }) => level === 'fail') ? EXIT.failed : EXIT.ok
  },
}

const MARKS = { ok: ['✓', 'green'], warn: ['!', 'yellow'], fail: ['✗', 'red'] } as const

function show({ terminal }: Shell, { check, level, detail, fix }: Diagnosis): void {
  const [mark, style] = MARKS[level]
  terminal.say(`${terminal.paint(style, mark)} ${check}: ${detail}`)
  if (fix) terminal.say(`    ${fix}`)
}

/** Where a file of secrets cannot be read, nothing can be said about what is in it. */
async function settings(env: Shell['env']): Promise<Diagnosis[]> {
  try {
    for (const name of SECRET_SETTINGS) settingOf(env, name)
  } catch (error) {
    return [sick('settings', messageOf(error), 'correct the path, and let the service read the file')]
  }
  return [await store(env), secretKey(env), model(env)]
}

async function store(env: Shell['env']): Promise<Diagnosis> {
  try {
    const url = databaseUrl(env)
    return url ? await postgres(url) : fine('store', `SQLite in ${dataDir(env)}`)
  } catch (error) {
    return sick('store', messageOf(error), 'correct DATABASE_URL, or unset it')
  }
}

/** The address is told without its password. */
async function postgres(url: string): Promise<Diagnosis> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  const where = `PostgreSQL at ${client.host}:${client.port}, database ${client.database}`
  try {
    await client.connect()
    const { rows } = await client.query('show server_version')
    return fine('store', `${where} answers (${String(rows[0]?.server_version)})`)
  } catch (error) {
    const fix = 'start it, correct DATABASE_URL (postgres://user:password@host:5432/name), or unset it for SQLite'
    return sick('store', `${where} cannot be used: ${messageOf(error) || 'no answer'}`, fix)
  } finally {
    await client.end().catch(() => {})
  }
}

function secretKey(env: Shell['env']): Diagnosis {
  const fix =
    'export SVC_SECRET_KEY="$(openssl rand -base64 32)", and keep it: without it no secret can be opened again'
  const text = settingOf(env, 'SVC_SECRET_KEY')?.trim()
  if (text === undefined) return lacking('secret key', 'not set: stored secrets are lost at the next start', fix)
  const good = /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) && Buffer.from(text, 'base64').length === 32
  return good
    ? fine('secret key', 'set, 32 bytes')
    : sick('secret key', 'SVC_SECRET_KEY is not 32 bytes in base64', fix)
}

function model(env: Shell['env']): Diagnosis {
  const name = env.SVC_MODEL
  if (!name)
    return fine('model', 'none: rehearsals are played; set SVC_MODEL=anthropic/NAME or openai/NAME for a real one')
  const key = name.startsWith('anthropic/') ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY'
  return settingOf(env, key)
    ? fine('model', name)
    : lacking('model', `${name}, but ${key} is not set`, `export ${key}=…`)
}

async function wedges(env: Shell['env'], svc: string): Promise<Diagnosis> {
  const root = wedgesDir(env)
  const fix = `${svc} wedge new NAME makes one; SVC_WEDGES_DIR names another folder`
  if (!existsSync(root)) return lacking('wedges', `there is no folder ${root}`, fix)
  const folders = wedgesBelow(root)
  const findings = (await Promise.all(folders.map(checkWedge))).flat().filter(({ level }) => level === 'error')
  if (findings.length > 0)
    return sick('wedges', `${findings.length} errors in ${root}`, `${svc} wedge check ${quoted(root)}`)
  return folders.length > 0
    ? fine('wedges', `${folders.length} in ${root}, no errors`)
    : lacking('wedges', `none in ${root}`, fix)
}
