import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { removeConnection, changeConnectionSettings } from '../../src/connections/connections.ts'
import { rotateSecretKey } from '../../src/vault/rotate-key.ts'
import {
  openSecret,
  warnAboutUnreadableSecrets,
  listConnectionsWithSecret,
  writeSecret,
} from '../../src/vault/secrets.ts'
import { openVault, createVault } from '../../src/vault/vault.ts'
import { loadConfig } from '../../src/config/config.ts'
import { SecretUnavailable } from '../../src/ctx/vault.ts'
import { eachStore } from '../stores.ts'
import { insertTestConnection, worldWithTestClock, openTestContext } from '../connections/test-context.ts'

const KEY = Buffer.alloc(32, 1)
const OTHER_KEY = Buffer.alloc(32, 2)
const CANARY = 'canary-5ecret-value'
const HOME = { projectId: 'prj_1', key: 'mail', connectionId: 'conn_1', kind: 'email' }

const world = (env: Record<string, string>) => worldWithTestClock(loadConfig({}), env)

describe('the key', () => {
  test.each([
    ['31 bytes', Buffer.alloc(31).toString('base64')],
    ['33 bytes', Buffer.alloc(33).toString('base64')],
    ['64 bytes of hex', Buffer.alloc(32).toString('hex')],
    ['words', 'correct horse battery staple'],
    ['nothing', ''],
  ])('%s stops the start', (_, key) => {
    expect(() => openVault(world({ SVC_SECRET_KEY: key }).world)).toThrow(/SVC_SECRET_KEY must be exactly 32 bytes/)
  })

  test.each(['base64', 'base64url'] as const)('32 bytes in %s are taken', (encoding) => {
    const vault = openVault(world({ SVC_SECRET_KEY: Buffer.alloc(32, 0xfb).toString(encoding) }).world)
    expect(vault).toMatchObject({ ephemeral: false, kid: createVault(Buffer.alloc(32, 0xfb)).kid })
  })

  test('it may lie in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-key-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'key'), `${KEY.toString('base64')}\n`)
    expect(openVault(world({ SVC_SECRET_KEY_FILE: join(folder, 'key') }).world).kid).toBe(createVault(KEY).kid)
  })

  test('without one an ephemeral key is made, with a warning', () => {
    const { world: bare, logged } = world({})
    const vault = openVault(bare)
    expect(vault.ephemeral).toBe(true)
    expect(vault.open(vault.seal(CANARY, HOME), HOME)).toBe(CANARY)
    expect(logged.join()).toContain('SVC_SECRET_KEY is not set')
    expect(openVault(bare).kid).not.toBe(vault.kid)
  })

  test('its fingerprint does not tell the key', () => {
    expect(createVault(KEY).kid).toMatch(/^[0-9a-f]{16}$/)
    expect(KEY.toString('hex')).not.toContain(createVault(KEY).kid)
  })
})

describe('an envelope', () => {
  test('holds v, kid, iv, tag and ct, and nothing readable', () => {
    const envelope = createVault(KEY).seal(CANARY, HOME)
    expect(Object.keys(envelope).toSorted()).toEqual(['ct', 'iv', 'kid', 'tag', 'v'])
    expect(JSON.stringify(envelope)).not.toContain(CANARY)
    expect(createVault(KEY).seal(CANARY, HOME).iv).not.toBe(envelope.iv)
  })

  test.each(['projectId', 'key', 'connectionId', 'kind'] as const)('does not open under another %s', (part) => {
    const vault = createVault(KEY)
    const envelope = vault.seal(CANARY, HOME)
    expect(() => vault.open(envelope, { ...HOME, [part]: 'other' })).toThrow(SecretUnavailable)
    expect(vault.open(envelope, HOME)).toBe(CANARY)
  })

  test.each(['iv', 'tag', 'ct'] as const)('with a changed %s does not open', (part) => {
    const vault = createVault(KEY)
    const envelope = vault.seal(CANARY, HOME)
    const bytes = Buffer.from(envelope[part], 'base64')
    bytes[0] = (bytes[0] ?? 0) ^ 1
    expect(() => vault.open({ ...envelope, [part]: bytes.toString('base64') }, HOME)).toThrow(/damaged/)
    expect(() => vault.open({ ...envelope, tag: envelope.tag.slice(0, 8) }, HOME)).toThrow(/damaged/)
  })

  test('of another key is reported with both fingerprints', () => {
    const [mine, theirs] = [createVault(KEY), createVault(OTHER_KEY)]
    expect(() => mine.open(theirs.seal(CANARY, HOME), HOME)).toThrow(
      `the secret was sealed with another key (${theirs.kid}, in use is ${mine.kid})`,
    )
  })
})

eachStore((store) => {
  test('a written secret opens for its connection only, and its row shows nothing', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail', kind: 'email' })
    const crm = await insertTestConnection(ctx, { name: 'crm' })
    await writeSecret(ctx, scope, mail, CANARY)
    expect(await openSecret(ctx, mail)).toBe(CANARY)
    expect(await openSecret(ctx, crm)).toBeNull()
    expect(await listConnectionsWithSecret(ctx, [mail, crm])).toEqual(new Set([mail.id]))
    expect(JSON.stringify(await ctx.db.selectFrom('vault').selectAll().execute())).not.toContain(CANARY)
  })

  test('a secret that comes while its connection goes or looks elsewhere is not kept', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail' })
    const crm = await insertTestConnection(ctx, { name: 'crm' })
    await changeConnectionSettings(ctx, scope, mail, { secret_ref: 'vault:other' })
    await removeConnection(ctx, scope, crm)
    await expect(writeSecret(ctx, scope, mail, CANARY)).rejects.toEqual(expect.objectContaining({ status: 409 }))
    await expect(writeSecret(ctx, scope, crm, CANARY)).rejects.toEqual(expect.objectContaining({ status: 404 }))
    expect(await ctx.db.selectFrom('vault').selectAll().execute()).toEqual([])
  })

  test('secret.written is audited with the connection and the kind, never the value', async () => {
    const { ctx, scope, logged } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail', kind: 'email' })
    await writeSecret(ctx, scope, mail, CANARY)
    const [entry] = await ctx.db.selectFrom('audit_entries').selectAll().execute()
    expect(entry).toMatchObject({ action: 'secret.written', subject: mail.id })
    expect(JSON.parse(entry?.data ?? '')).toEqual({ connection: mail.id, kind: 'email' })
    expect(JSON.stringify(entry) + logged.join()).not.toContain(CANARY)
  })

  test('envelopes that were swapped between rows do not open', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const one = await insertTestConnection(ctx, { name: 'one' })
    const two = await insertTestConnection(ctx, { name: 'two' })
    await writeSecret(ctx, scope, one, 'first')
    await writeSecret(ctx, scope, two, 'second')
    const rows = await ctx.db.selectFrom('vault').selectAll().execute()
    for (const row of rows) {
      const envelope = rows.find((other) => other.key !== row.key)?.envelope ?? ''
      await ctx.store.transact((db) => db.updateTable('vault').set({ envelope }).where('key', '=', row.key).execute())
    }
    await expect(openSecret(ctx, one)).rejects.toThrow(/belongs to another connection/)
    await expect(openSecret(ctx, two)).rejects.toThrow(/belongs to another connection/)
  })

  test('after a change of the key the secret is reported as sealed with another', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail' })
    await writeSecret(ctx, scope, mail, CANARY)
    const later = { ...ctx, vault: createVault(OTHER_KEY) }
    await expect(openSecret(later, mail)).rejects.toThrow(/sealed with another key/)
    expect(await listConnectionsWithSecret(later, [mail])).toEqual(new Set())
    const warn = vi.spyOn(ctx.world.log, 'warn')
    await warnAboutUnreadableSecrets(ctx)
    expect(warn).not.toHaveBeenCalled()
    await warnAboutUnreadableSecrets(later)
    expect(warn).toHaveBeenCalledWith({ secrets: 1 }, expect.stringContaining('sealed with another key'))
  })

  test('rotation seals everything anew under the new key, once', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail' })
    const crm = await insertTestConnection(ctx, { name: 'crm', secret_ref: 'vault:crm/key' })
    await writeSecret(ctx, scope, mail, 'first')
    await writeSecret(ctx, scope, crm, 'second')
    const lost = await insertTestConnection(ctx, { name: 'lost' })
    await writeSecret({ ...ctx, vault: createVault(Buffer.alloc(32, 9)) }, scope, lost, 'third')
    const later = { ...ctx, vault: createVault(OTHER_KEY) }
    const old = KEY.toString('base64')
    expect(await rotateSecretKey(later, old)).toMatchObject({ resealed: 2, current: 0, unreadable: [lost.id] })
    expect(await openSecret(later, mail)).toBe('first')
    expect(await openSecret(later, crm)).toBe('second')
    expect(await rotateSecretKey(later, old)).toMatchObject({ resealed: 0, current: 2, unreadable: [lost.id] })
    const told = await ctx.db.selectFrom('audit_entries').select('data').where('action', '=', 'vault.rotated').execute()
    expect(told.map((entry) => JSON.parse(entry.data).secrets)).toEqual([2])
  })

  test('an env reference reads the environment of the service now', async () => {
    const { ctx, env } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail', secret_ref: 'env:MAIL_KEY' })
    expect(await listConnectionsWithSecret(ctx, [mail])).toEqual(new Set())
    await expect(openSecret(ctx, mail)).rejects.toThrow("the environment variable 'MAIL_KEY' is not set or not allowed")
    env.MAIL_KEY = CANARY
    expect(await listConnectionsWithSecret(ctx, [mail])).toEqual(new Set([mail.id]))
    expect(await openSecret(ctx, mail)).toBe(CANARY)
  })

  test('a row that names a forbidden variable reads nothing', async () => {
    const { ctx } = await openTestContext({ store, env: { SVC_SECRET_KEY: KEY.toString('base64') } })
    const mail = await insertTestConnection(ctx, { name: 'mail', secret_ref: 'env:SVC_SECRET_KEY' })
    await expect(openSecret(ctx, mail)).rejects.toThrow(SecretUnavailable)
    expect(await listConnectionsWithSecret(ctx, [mail])).toEqual(new Set())
  })

  test("a row that names another connection's own place in the vault opens and overwrites nothing", async () => {
    const { ctx, scope } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail' })
    await writeSecret(ctx, scope, mail, CANARY)
    const other = await insertTestConnection(ctx, { name: 'other', secret_ref: `vault:${mail.id}` })
    await expect(openSecret(ctx, other)).rejects.toThrow(SecretUnavailable)
    expect(await listConnectionsWithSecret(ctx, [mail, other])).toEqual(new Set([mail.id]))
    await expect(writeSecret(ctx, scope, other, 'x')).rejects.toEqual(expect.objectContaining({ status: 409 }))
    expect(await openSecret(ctx, mail)).toBe(CANARY)
  })
})
