import { chmodSync, readFileSync, statSync, writeFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { GENESIS_HASH } from '../../src/contract/audit-chain.ts'
import { SECRET_KEY } from '../approvals/gated-app.ts'
import { sharedApp, testApp } from '../app.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

describe('svc audit', () => {
  const app = sharedApp({ store: 'sqlite' })

  test('verifies an export by itself, and finds the entry that was changed', async () => {
    for (const name of ['one', 'two']) await app().call('POST', '/v1/keys', { name })
    const { stdout, code } = await runSvc(['audit', 'export'], { url: app().url })
    expect(code).toBe(0)
    const file = join(temporaryFolder(), 'audit.jsonl')
    writeFileSync(file, stdout)
    const good = await runSvc(['audit', 'verify', file, '--json'])
    expect(good).toMatchObject({ code: 0, lines: [{ ok: true, first_bad_seq: null }] })
    expect((await runSvc(['audit', 'verify', '-'], { stdin: stdout })).stdout).toMatch(/^✓ the chain of .* holds/)

    const lines = stdout.trimEnd().split('\n')
    const at = lines.findIndex((line) => line.includes('"name":"two"'))
    const { seq } = JSON.parse(lines[at] ?? '')
    writeFileSync(file, stdout.replace('"name":"two"', '"name":"twa"'))
    const bad = await runSvc(['audit', 'verify', file, '--json'])
    expect(bad).toMatchObject({ code: 1, lines: [{ ok: false, first_bad_seq: seq }] })
    expect((await runSvc(['audit', 'verify', file])).stdout).toContain(`entry ${seq} is not what its hash says`)
    writeFileSync(file, lines.filter((line) => !line.includes('"kind":"end"')).join('\n'))
    const unsigned = await runSvc(['audit', 'verify', file])
    expect(unsigned).toMatchObject({ code: 1, stdout: expect.stringContaining('its end is not signed') })
    writeFileSync(file, 'no chain\n')
    expect(await runSvc(['audit', 'verify', file])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('line 1 '),
    })
  })

  test('ends the lines of an export where they end, not at other separators in their texts', async () => {
    const { status } = await app().call('POST', '/v1/keys', { name: 'a\u2028b\u2029c' })
    expect(status).toBe(201)
    const { stdout } = await runSvc(['audit', 'export'], { url: app().url })
    const raw = stdout.replaceAll('\\u2028', '\u2028').replaceAll('\\u2029', '\u2029')
    expect(raw).toContain('a\u2028b\u2029c')
    for (const stdin of [stdout, raw, raw.replaceAll('\n', '\r\n')])
      expect(await runSvc(['audit', 'verify', '-'], { stdin })).toMatchObject({ code: 0 })
  })

  test('backup and the store itself are for nobody else to read, also in a folder that was there before', async () => {
    const data = temporaryFolder()
    chmodSync(data, 0o755)
    writeFileSync(join(data, 'svc.db'), '', { mode: 0o644 })
    const again = await testApp({ store: 'sqlite', env: { SVC_DATA_DIR: data } })
    await again.createTask()
    expect((await runSvc(['backup', join(data, 'copy.db')], { env: { SVC_DATA_DIR: data } })).code).toBe(0)
    const modes = readdirSync(data, { withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [[entry.name, statSync(join(data, entry.name)).mode & 0o777]] : [],
    )
    const files = ['copy.db', 'svc.db', 'svc.db-shm', 'svc.db-wal']
    expect(Object.fromEntries(modes)).toMatchObject(Object.fromEntries(files.map((name) => [name, 0o600])))
  })

  test('backup copies the store while the service runs', async () => {
    const folder = temporaryFolder()
    const env = { SVC_DATA_DIR: join(app().dir, 'data') }
    const { code, lines } = await runSvc(['backup', join(folder, 'copy.db'), '--json'], { env })
    expect(code).toBe(0)
    expect(statSync(lines[0].file).mode & 0o777).toBe(0o600)
    expect(readFileSync(lines[0].file, 'latin1').slice(0, 15)).toBe('SQLite format 3')
    expect(keysIn(lines[0].file)).toContain('two')
    expect(await runSvc(['backup', lines[0].file], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exists already'),
    })
    expect((await runSvc(['backup', folder, '--json'], { env })).lines[0].file).toMatch(/svc-[\dT-]+\.db$/)
  })

  test('backup takes a folder that is there or a new .db file, and says what to do about anything else', async () => {
    const folder = temporaryFolder()
    const env = { SVC_DATA_DIR: join(app().dir, 'data') }
    const to = (place: string) => runSvc(['backup', place], { env, cwd: folder })
    const missing = join(folder, 'daily')
    const make = `there is no folder ${missing}\n     make it with: mkdir -p ${missing}`
    expect(await to('daily')).toMatchObject({ code: 1, stderr: expect.stringContaining(make) })
    expect((await to('daily')).stderr).toContain(', or name a file that ends in .db')
    expect(await to('daily/')).toMatchObject({ code: 1, stderr: expect.stringContaining(make) })
    expect(await to('daily/copy.db')).toMatchObject({ code: 1, stderr: `svc: ${make}\n` })
    expect(readdirSync(folder)).toEqual([])
    writeFileSync(join(folder, 'file'), '')
    expect(await to('file')).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') })
    expect(await to('file/copy.db')).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no folder') })
    expect((await to('copy.db')).code).toBe(0)
    const elsewhere = await runSvc(['backup', 'other.db'], { cwd: folder })
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('is SVC_DATA_DIR the one') })
    expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'file'])
  })

  test('a backup that fails half way leaves no file', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'svc.db'), 'no store'.repeat(1000))
    const { code, stderr } = await runSvc(['backup', join(folder, 'copy.db')], { env: { SVC_DATA_DIR: folder } })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('the store cannot be copied') })
    expect(readdirSync(folder)).toEqual(['svc.db'])
  })

  test('backup of PostgreSQL is a command of its own', async () => {
    const folder = temporaryFolder()
    const postgres = await runSvc(['backup', folder], { env: { DATABASE_URL: 'postgres://u:p@h/d' } })
    expect(postgres).toMatchObject({ code: 1, stderr: expect.stringContaining('pg_dump --format=custom --file=') })
    expect(postgres.stderr).not.toContain('u:p@')
    writeFileSync(join(folder, 'url'), 'postgres://u:p@h/d')
    const byFile = await runSvc(['backup', 'my copy.db'], {
      cwd: folder,
      env: { DATABASE_URL_FILE: join(folder, 'url') },
    })
    expect(byFile.stderr).toContain(`--file='${join(folder, 'my copy.dump')}' "$(cat "$DATABASE_URL_FILE")"`)
  })
})

function keysIn(file: string): string[] {
  const { DatabaseSync }: typeof import('@photostructure/sqlite') = createRequire(import.meta.url)(
    '@photostructure/sqlite',
  )
  const database = new DatabaseSync(file)
  const rows = database.prepare('select name from keys').all()
  database.close()
  return rows.map((row) => String(row['name']))
}

test('vault rotate seals every secret anew, once', async () => {
  const app = await testApp({ store: 'sqlite', env: { SVC_SECRET_KEY: SECRET_KEY } })
  const { body } = await app.call('POST', '/v1/connections', {
    kind: 'custom',
    name: 'crm',
    config: { api_url: 'https://example.com' },
  })
  await app.call('POST', `/v1/connections/${body.id}/secret`, { value: 'hush' })
  const env = {
    SVC_DATA_DIR: join(app.dir, 'data'),
    SVC_SECRET_KEY: Buffer.alloc(32, 8).toString('base64'),
    SVC_SECRET_KEY_OLD: SECRET_KEY,
  }
  // A service whose heart beats.
  const beating = setInterval(() => void app.clock.advance(1_000), 100)
  expect(await runSvc(['vault', 'rotate'], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the service is running'),
  })
  clearInterval(beating)
  expect((await runSvc(['vault', 'rotate', '--json'], { env })).lines).toEqual([
    { resealed: 1, current: 0, unreadable: [], unsealed: [] },
  ])
  expect((await runSvc(['vault', 'rotate', '--json'], { env })).lines).toEqual([
    { resealed: 0, current: 1, unreadable: [], unsealed: [] },
  ])
  expect(await runSvc(['vault', 'rotate'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('SVC_SECRET_KEY_OLD is not set'),
  })
})

test('audit adopt seals the chains of a store that another key has sealed, once, and refuses those that were changed', async () => {
  const app = await testApp({ store: 'sqlite' })
  const { id } = (await app.call('GET', '/v1/projects')).body.data[0]
  const env = { SVC_DATA_DIR: join(app.dir, 'data'), SVC_SECRET_KEY: SECRET_KEY }
  const first = await runSvc(['audit', 'adopt'], { env })
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/2 audit chains adopted\n$/) })
  expect(first.stdout).toContain(`${id}: its head had the seal of another key; sealed from entry 2 on\n`)
  expect(await runSvc(['audit', 'adopt', '--json'], { env })).toMatchObject({
    code: 0,
    lines: [{ adopted: [], refused: [] }],
  })
  await app.ctx.db.updateTable('audit_heads').set({ hash: GENESIS_HASH }).where('chain', '=', id).execute()
  const refused = await runSvc(['audit', 'adopt'], { env })
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${id} was left as it is: the head `) })
  expect(await runSvc(['audit', 'adopt'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('SVC_SECRET_KEY is not set'),
  })
})

describe('svc doctor', () => {
  const CHECKS = ['node', 'bubblewrap', 'user namespaces', 'disk', 'store', 'secret key', 'model', 'wedges']

  test('tells of each thing whether it is there, and how to get it', async () => {
    const { code, lines } = await runSvc(['doctor', '--json'], {
      cwd: temporaryFolder(),
      env: { SVC_SECRET_KEY: SECRET_KEY },
    })
    expect(lines.map(({ check }) => check)).toEqual(CHECKS)
    for (const { level, detail, fix } of lines) {
      expect(detail).toEqual(expect.any(String))
      expect(level === 'ok' ? fix === null : typeof fix === 'string').toBe(true)
    }
    expect(lines.find(({ check }) => check === 'secret key').level).toBe('ok')
    expect(lines.find(({ check }) => check === 'wedges').fix).toContain('svc wedge new')
    expect(code).toBe(0)
  })

  test('ends with 1 when something set is wrong, and shows no password', async () => {
    const env = { SVC_SECRET_KEY: 'short', DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/db' }
    const { code, stdout } = await runSvc(['doctor'], { cwd: temporaryFolder(), env })
    expect(code).toBe(1)
    expect(stdout).toMatch(/✗ store: PostgreSQL at 127\.0\.0\.1:1, database db cannot be used/)
    expect(stdout).toMatch(/✗ secret key: SVC_SECRET_KEY is not 32 bytes in base64\n {4}export SVC_SECRET_KEY=/)
    expect(stdout).not.toContain('hunter2')
  })

  test('looks for secrets in files too, and tells which file cannot be read', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'key'), `${SECRET_KEY}\n`)
    const found = await runSvc(['doctor'], { cwd, env: { SVC_SECRET_KEY_FILE: join(cwd, 'key') } })
    expect(found.stdout).toContain('secret key: set, 32 bytes')
    const lost = await runSvc(['doctor'], { cwd, env: { DATABASE_URL_FILE: join(cwd, 'absent') } })
    expect(lost.code).toBe(1)
    expect(lost.stdout).toContain('DATABASE_URL_FILE cannot be read')
  })
})
