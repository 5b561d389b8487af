import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { changeConnectionSettings, removeConnection } from '../../../src/connections/setup/connections.ts'
import { writeSecret } from '../../../src/connections/setup/write-secret.ts'
import { SecretUnavailable } from '../../../src/platform/ctx/vault.ts'
import { rotateSecretKey } from '../../../src/identity/vault/rotate-key.ts'
import {
  listConnectionsWithSecret,
  openSecret,
  warnAboutUnreadableSecrets,
} from '../../../src/identity/vault/secrets.ts'
import { createVault, openVault } from '../../../src/identity/vault/vault.ts'
import { insertTestConnection, openTestContext, worldWithTestClock } from '../../connections/test-context.ts'
import { eachStore } from '../../stores.ts'

const KEY = Buffer.alloc(32, 1)
const OTHER_KEY = Buffer.alloc(32, 2)
const CANARY = 'canary-5ecret-value'
const LOCATION = { projectId: 'prj_1', key: 'mail', connectionId: 'conn_1', kind: 'email' }

const world = (env: Record<string, string>) => worldWithTestClock(loadConfig({}), env)

describe('SVC_SECRET_KEY', () => {
  test.each([
    ['31 bytes', Buffer.alloc(31).toString('base64')],
    ['33 bytes', Buffer.alloc(33).toString('base64')],
    ['64 bytes of hex', Buffer.alloc(32).toString('hex')],
    ['words', 'correct horse battery staple'],
    ['nothing', ''],
  ])('a key of %s stops the start', (_, key) => {
    expect(() => openVault(world({ SVC_SECRET_KEY: key }).world)).toThrow(/SVC_SECRET_KEY must be exactly 32 bytes/)
  })

  test.each(['base64', 'base64url'] as const)('a key of 32 bytes in %s is accepted', (encoding) => {
    const vault = openVault(world({ SVC_SECRET_KEY: Buffer.alloc(32, 0xfb).toString(encoding) }).world)
    expect(vault).toMatchObject({ ephemeral: false, kid: createVault(Buffer.alloc(32, 0xfb)).kid })
  })

  test('the key can be read from a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-key-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'key'), `${KEY.toString('base64')}\n`)
    expect(openVault(world({ SVC_SECRET_KEY_FILE: join(folder, 'key') }).world).kid).toBe(createVault(KEY).kid)
  })

  test('without a key the service creates a temporary one and logs a warning', () => {
    const { world: bare, logged } = world({})
    const vault = openVault(bare)
    expect(vault.ephemeral).toBe(true)
    expect(vault.open(vault.seal(CANARY, LOCATION), LOCATION)).toBe(CANARY)
    expect(logged.join()).toContain('SVC_SECRET_KEY is not set')
    expect(openVault(bare).kid).not.toBe(vault.kid)
  })

  test('the key id does not reveal the key', () => {
    expect(createVault(KEY).kid).toMatch(/^[0-9a-f]{16}$/)
    expect(KEY.toString('hex')).not.toContain(createVault(KEY).kid)
  })
})

describe('encrypted secrets', () => {
  test('an envelope holds v, kid, iv, tag and ct, and no plain text', () => {
    const envelope = createVault(KEY).seal(CANARY, LOCATION)
    expect(Object.keys(envelope).toSorted()).toEqual(['ct', 'iv', 'kid', 'tag', 'v'])
    expect(JSON.stringify(envelope)).not.toContain(CANARY)
    expect(createVault(KEY).seal(CANARY, LOCATION).iv).not.toBe(envelope.iv)
  })

  test.each(['projectId', 'key', 'connectionId', 'kind'] as const)(
    'an envelope does not decrypt for another %s',
    (part) => {
      const vault = createVault(KEY)
      const envelope = vault.seal(CANARY, LOCATION)
      expect(() => vault.open(envelope, { ...LOCATION, [part]: 'other' })).toThrow(SecretUnavailable)
      expect(vault.open(envelope, LOCATION)).toBe(CANARY)
    },
  )

  test.each(['iv', 'tag', 'ct'] as const)('an envelope with a changed %s does not decrypt', (part) => {
    const vault = createVault(KEY)
    const envelope = vault.seal(CANARY, LOCATION)
    const bytes = Buffer.from(envelope[part], 'base64')
    bytes[0] = (bytes[0] ?? 0) ^ 1
    expect(() => vault.open({ ...envelope, [part]: bytes.toString('base64') }, LOCATION)).toThrow(/damaged/)
    expect(() => vault.open({ ...envelope, tag: envelope.tag.slice(0, 8) }, LOCATION)).toThrow(/damaged/)
  })

  test('the error for a wrong key names both key ids', () => {
    const [current, previous] = [createVault(KEY), createVault(OTHER_KEY)]
    expect(() => current.open(previous.seal(CANARY, LOCATION), LOCATION)).toThrow(
      `the secret was encrypted with another key (${previous.kid}, the current key is ${current.kid})`,
    )
  })
})

eachStore((store) => {
  test('a secret decrypts for its own connection only, and its row holds no plain text', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail', kind: 'email' })
    const crm = await insertTestConnection(ctx, { name: 'crm' })
    await writeSecret(ctx, scope, mail, CANARY)
    expect(await openSecret(ctx, mail)).toBe(CANARY)
    expect(await openSecret(ctx, crm)).toBeNull()
    expect(await listConnectionsWithSecret(ctx, [mail, crm])).toEqual(new Set([mail.id]))
    expect(JSON.stringify(await ctx.db.selectFrom('vault').selectAll().execute())).not.toContain(CANARY)
  })

  test('a secret is not stored if its connection was deleted or its secret_ref changed meanwhile', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail' })
    const crm = await insertTestConnection(ctx, { name: 'crm' })
    await changeConnectionSettings(ctx, scope, mail, { secret_ref: 'vault:other' })
    await removeConnection(ctx, scope, crm)
    await expect(writeSecret(ctx, scope, mail, CANARY)).rejects.toEqual(expect.objectContaining({ status: 409 }))
    await expect(writeSecret(ctx, scope, crm, CANARY)).rejects.toEqual(expect.objectContaining({ status: 404 }))
    expect(await ctx.db.selectFrom('vault').selectAll().execute()).toEqual([])
  })

  test('the audit entry secret.written has the connection and its kind, never the value', async () => {
    const { ctx, scope, logged } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail', kind: 'email' })
    await writeSecret(ctx, scope, mail, CANARY)
    const [entry] = await ctx.db.selectFrom('audit_entries').selectAll().execute()
    expect(entry).toMatchObject({ action: 'secret.written', subject: mail.id })
    expect(JSON.parse(entry?.data ?? '')).toEqual({ connection: mail.id, kind: 'email' })
    expect(JSON.stringify(entry) + logged.join()).not.toContain(CANARY)
  })

  test('envelopes swapped between rows do not decrypt', async () => {
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

  test('after a key change a secret is reported as encrypted with another key', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail' })
    await writeSecret(ctx, scope, mail, CANARY)
    const afterKeyChange = { ...ctx, vault: createVault(OTHER_KEY) }
    await expect(openSecret(afterKeyChange, mail)).rejects.toThrow(/encrypted with another key/)
    expect(await listConnectionsWithSecret(afterKeyChange, [mail])).toEqual(new Set())
    const warn = vi.spyOn(ctx.world.log, 'warn')
    await warnAboutUnreadableSecrets(ctx)
    expect(warn).not.toHaveBeenCalled()
    await warnAboutUnreadableSecrets(afterKeyChange)
    expect(warn).toHaveBeenCalledWith({ secrets: 1 }, expect.stringContaining('encrypted with another key'))
  })

  test('a key rotation encrypts all secrets again, once', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail' })
    const crm = await insertTestConnection(ctx, { name: 'crm', secret_ref: 'vault:crm/key' })
    await writeSecret(ctx, scope, mail, 'first')
    await writeSecret(ctx, scope, crm, 'second')
    const unreadable = await insertTestConnection(ctx, { name: 'lost' })
    await writeSecret({ ...ctx, vault: createVault(Buffer.alloc(32, 9)) }, scope, unreadable, 'third')
    const afterKeyChange = { ...ctx, vault: createVault(OTHER_KEY) }
    const old = KEY.toString('base64')
    expect(await rotateSecretKey(afterKeyChange, old)).toMatchObject({
      resealed: 2,
      current: 0,
      unreadable: [unreadable.id],
    })
    expect(await openSecret(afterKeyChange, mail)).toBe('first')
    expect(await openSecret(afterKeyChange, crm)).toBe('second')
    expect(await rotateSecretKey(afterKeyChange, old)).toMatchObject({
      resealed: 0,
      current: 2,
      unreadable: [unreadable.id],
    })
    const entries = await ctx.db
      .selectFrom('audit_entries')
      .select('data')
      .where('action', '=', 'vault.rotated')
      .execute()
    expect(entries.map((entry) => JSON.parse(entry.data).secrets)).toEqual([2])
  })

  test('an env reference reads the current environment of the service', async () => {
    const { ctx, env } = await openTestContext({ store })
    const mail = await insertTestConnection(ctx, { name: 'mail', secret_ref: 'env:MAIL_KEY' })
    expect(await listConnectionsWithSecret(ctx, [mail])).toEqual(new Set())
    await expect(openSecret(ctx, mail)).rejects.toThrow("the environment variable 'MAIL_KEY' is not set or not allowed")
    env.MAIL_KEY = CANARY
    expect(await listConnectionsWithSecret(ctx, [mail])).toEqual(new Set([mail.id]))
    expect(await openSecret(ctx, mail)).toBe(CANARY)
  })

  test('a stored reference to a forbidden environment variable reads nothing', async () => {
    const { ctx } = await openTestContext({ store, env: { SVC_SECRET_KEY: KEY.toString('base64') } })
    const mail = await insertTestConnection(ctx, { name: 'mail', secret_ref: 'env:SVC_SECRET_KEY' })
    await expect(openSecret(ctx, mail)).rejects.toThrow(SecretUnavailable)
    expect(await listConnectionsWithSecret(ctx, [mail])).toEqual(new Set())
  })

  test("a stored reference to another connection's vault key neither reads nor overwrites its secret", async () => {
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
