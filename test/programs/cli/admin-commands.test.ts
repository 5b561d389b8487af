import { chmodSync, readFileSync, statSync, writeFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { GENESIS_HASH } from '../../../src/platform/contract/audit/audit-chain.ts'
import { SECRET_KEY } from '../../approvals/decisions/gated-app.ts'
import { sharedApp, testApp } from '../../app.ts'
import { callSvc } from './call-svc.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

describe('svc audit and svc backup', () => {
  const app = sharedApp({ store: 'sqlite' })

  test('audit verify accepts an export, and names the entry that was changed', async () => {
    for (const name of ['one', 'two']) await app().call('POST', '/v1/keys', { name })
    const { stdout, code } = await runSvc(['audit', 'export'], { url: app().url })
    expect(code).toBe(0)
    const file = join(temporaryFolder(), 'audit.jsonl')
    writeFileSync(file, stdout)
    const good = await callSvc(['audit', 'verify', file, '--json'])
    expect(good).toMatchObject({ code: 0, lines: [{ ok: true, first_bad_seq: null }] })
    expect((await runSvc(['audit', 'verify', '-'], { stdin: stdout })).stdout).toMatch(
      /^✓ the audit log of .* verifies/,
    )

    const lines = stdout.trimEnd().split('\n')
    const index = lines.findIndex((line) => line.includes('"name":"two"'))
    const { seq } = JSON.parse(lines[index] ?? '')
    writeFileSync(file, stdout.replace('"name":"two"', '"name":"twa"'))
    const bad = await callSvc(['audit', 'verify', file, '--json'])
    expect(bad).toMatchObject({ code: 1, lines: [{ ok: false, first_bad_seq: seq }] })
    expect((await callSvc(['audit', 'verify', file])).stdout).toContain(`does not verify: entry ${seq} `)
    writeFileSync(file, lines.filter((line) => !line.includes('"kind":"end"')).join('\n'))
    const unsigned = await callSvc(['audit', 'verify', file])
    expect(unsigned).toMatchObject({ code: 1, stdout: expect.stringMatching(/does not verify: .*signed/) })
    writeFileSync(file, 'no chain\n')
    expect(await callSvc(['audit', 'verify', file])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('line 1 '),
    })
  })

  test('audit verify accepts U+2028 and U+2029 inside the texts of an export', async () => {
    const { status } = await app().call('POST', '/v1/keys', { name: 'a\u2028b\u2029c' })
    expect(status).toBe(201)
    const { stdout } = await runSvc(['audit', 'export'], { url: app().url })
    const raw = stdout.replaceAll('\\u2028', '\u2028').replaceAll('\\u2029', '\u2029')
    expect(raw).toContain('a\u2028b\u2029c')
    for (const stdin of [stdout, raw, raw.replaceAll('\n', '\r\n')])
      expect(await runSvc(['audit', 'verify', '-'], { stdin })).toMatchObject({ code: 0 })
  })

  test('backup and store files are readable only by their owner, even in a folder with open permissions', async () => {
    const data = temporaryFolder()
    chmodSync(data, 0o755)
    writeFileSync(join(data, 'svc.db'), '', { mode: 0o644 })
    const restarted = await testApp({ store: 'sqlite', env: { SVC_DATA_DIR: data } })
    await restarted.createTask()
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
      stderr: expect.stringContaining('already exists'),
    })
    expect((await runSvc(['backup', folder, '--json'], { env })).lines[0].file).toMatch(/svc-[\dT-]+\.db$/)
  })

  test('backup needs an existing folder or a new .db file, and says what to do otherwise', async () => {
    const folder = temporaryFolder()
    const env = { SVC_DATA_DIR: join(app().dir, 'data') }
    const backupTo = (target: string) => runSvc(['backup', target], { env, cwd: folder })
    const missing = join(folder, 'daily')
    const createHint = `folder ${missing} does not exist\n     create it with: mkdir -p ${missing}`
    expect(await backupTo('daily')).toMatchObject({ code: 1, stderr: expect.stringContaining(createHint) })
    expect((await backupTo('daily')).stderr).toContain(', or use a file name that ends in .db')
    expect(await backupTo('daily/')).toMatchObject({ code: 1, stderr: expect.stringContaining(createHint) })
    expect(await backupTo('daily/copy.db')).toMatchObject({ code: 1, stderr: `svc: ${createHint}\n` })
    expect(readdirSync(folder)).toEqual([])
    writeFileSync(join(folder, 'file'), '')
    expect(await backupTo('file')).toMatchObject({ code: 1, stderr: expect.stringContaining('already exists') })
    expect(await backupTo('file/copy.db')).toMatchObject({ code: 1, stderr: expect.stringContaining('does not exist') })
    expect((await backupTo('copy.db')).code).toBe(0)
    const withoutStore = await runSvc(['backup', 'other.db'], { cwd: folder })
    expect(withoutStore).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('check that SVC_DATA_DIR is the folder'),
    })
    expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'file'])
  })

  test('a backup that fails leaves no file', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'svc.db'), 'no store'.repeat(1000))
    const { code, stderr } = await runSvc(['backup', join(folder, 'copy.db')], { env: { SVC_DATA_DIR: folder } })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('cannot copy the store') })
    expect(readdirSync(folder)).toEqual(['svc.db'])
  })

  test('backup prints the pg_dump command for PostgreSQL, without the password', async () => {
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

test('init creates a key file for its owner only, and secrets stored with it can be used after a restart', async () => {
  const cwd = temporaryFolder()
  const env = { SVC_DATA_DIR: join(cwd, 'data') }
  const file = join(cwd, 'data/secret.key')
  const examples = [join(cwd, 'wedges'), join(cwd, 'blueprints')]
  expect((await runSvc(['init', '--json'], { env, cwd })).lines).toEqual([{ created: true, file, examples }])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const key = readFileSync(file, 'utf8')
  expect(Buffer.from(key, 'base64')).toHaveLength(32)

  const app = await testApp({ store: 'sqlite', env })
  expect((await app.call('GET', '/v1/meta')).body.vault).toEqual({ ephemeral: false })
  const config = { api_url: 'https://example.com' }
  const { body } = await app.call('POST', '/v1/connections', { kind: 'custom', name: 'crm', config })
  await app.call('POST', `/v1/connections/${body.id}/secret`, { value: 'hush' })
  await app.stop()
  const restarted = await testApp({ store: 'sqlite', env })
  const { body: connection } = await restarted.call('GET', `/v1/connections/${body.id}`)
  expect(connection).toMatchObject({ has_secret: true, status: 'connected' })

  expect(await runSvc(['init'], { env, cwd })).toMatchObject({
    code: 0,
    stdout: 'there is a key already; it was not changed\n',
  })
  expect(readFileSync(file, 'utf8')).toBe(key)
  expect((await runSvc(['doctor'], { env, cwd })).stdout).toContain('secret key: set, 32 bytes')
})

test('init on a deployment that has run without a key says what to do, and the meta route tells that the key is lost', async () => {
  const app = await testApp({ store: 'sqlite' })
  expect((await app.call('GET', '/v1/meta')).body.vault).toEqual({ ephemeral: true })
  const env = { SVC_DATA_DIR: join(app.dir, 'data') }
  const { code, stderr } = await runSvc(['init'], { env, cwd: app.dir })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('run `svc audit adopt` once') })
  expect((await runSvc(['audit', 'adopt'], { env })).code).toBe(0)
})

test('vault rotate encrypts every secret once, and refuses while the service runs', async () => {
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
  // The service renews its lease while the clock moves.
  const heartbeat = setInterval(() => void app.clock.advance(1_000), 100)
  expect(await runSvc(['vault', 'rotate'], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the service is running'),
  })
  clearInterval(heartbeat)
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

test('audit adopt seals the audit logs that another key has sealed, once, and refuses changed ones', async () => {
  const app = await testApp({ store: 'sqlite' })
  const { id } = (await app.call('GET', '/v1/projects')).body.data[0]
  const env = { SVC_DATA_DIR: join(app.dir, 'data'), SVC_SECRET_KEY: SECRET_KEY }
  const first = await runSvc(['audit', 'adopt'], { env })
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/2 audit logs adopted\n$/) })
  expect(first.stdout).toContain(`${id}: had the seal of another key; sealed from entry 2 on\n`)
  expect(await runSvc(['audit', 'adopt', '--json'], { env })).toMatchObject({
    code: 0,
    lines: [{ adopted: [], refused: [] }],
  })
  await app.ctx.db.updateTable('audit_heads').set({ hash: GENESIS_HASH }).where('chain', '=', id).execute()
  const refused = await runSvc(['audit', 'adopt'], { env })
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${id} was left unchanged: `) })
  expect(await runSvc(['audit', 'adopt'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('SVC_SECRET_KEY is not set'),
  })
})
