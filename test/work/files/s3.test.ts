import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { readStorageUsage } from '../../../src/identity/limits/storage-usage.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../../src/platform/ctx/scope.ts'
import { removeUnfinishedFiles } from '../../../src/automation/retention/remove-files.ts'
import { deleteFile } from '../../../src/work/files/delete-file.ts'
import { readFile } from '../../../src/work/files/storage.ts'
import { insertFile } from '../../../src/work/files/rows.ts'
import { storeFile } from '../../../src/work/files/store-file.ts'
import { advanceUntilSettled } from '../../approvals/decisions/gated-app.ts'
import { startTestApp, anyStore, type TestApp, testApp } from '../../app.ts'
import { collect, inSlices, randomBytesOf } from './file-bytes.ts'
import { openS3Server } from './s3-server.ts'

const MIB = 1024 * 1024

async function ownerOf(app: TestApp) {
  const { body } = await app.call('GET', '/v1/projects')
  return { projectId: body.data[0].id as string, clientId: null, actor: SYSTEM_ACTOR }
}

anyStore((store) => {
  test('files of every size go to the object store and come back with the same bytes', async () => {
    const s3 = await openS3Server()
    const app = await testApp({ store, env: s3.env })
    const owner = await ownerOf(app)
    for (const size of [0, 1, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 20 * MIB]) {
      const bytes = randomBytesOf(size)
      const file = await storeFile(app.ctx, owner, { name: 'a.bin' }, inSlices(bytes, 100_000))
      expect([file.size, file.storage, file.upload_id]).toEqual([size, 's3', null])
      expect(file.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
      expect(await s3.keys()).toEqual([`desk/${file.id}`])
      expect(Buffer.compare(await s3.read(`desk/${file.id}`), bytes)).toBe(0)
      expect(Buffer.compare(await collect(readFile(app.ctx, file)), bytes)).toBe(0)
      await deleteFile(app.ctx, SYSTEM_ACTOR, file)
      expect(await s3.keys()).toEqual([])
    }
    expect((await readStorageUsage(app.ctx, owner.projectId)).stored_bytes).toBe(0)
    expect(await app.ctx.db.selectFrom('file_chunks').select('n').execute()).toEqual([])
  })

  test('an upload that breaks off after two parts leaves no object, no parts and no counted bytes', async () => {
    const s3 = await openS3Server()
    const app = await testApp({ store, env: s3.env })
    const broken = async function* () {
      for (let i = 0; i < 20; i++) yield randomBytesOf(MIB)
      throw new Error('the sender went away')
    }
    const owner = await ownerOf(app)
    await expect(storeFile(app.ctx, owner, { name: 'a' }, broken())).rejects.toThrow('the sender went away')
    expect(await s3.keys()).toEqual([])
    expect(s3.uploadFolders()).toEqual([])
    expect(await app.ctx.db.selectFrom('files').selectAll().execute()).toEqual([])
    expect((await readStorageUsage(app.ctx, owner.projectId)).stored_bytes).toBe(0)
  })

  test('the cleanup removes an upload whose process died, after a day', async () => {
    const s3 = await openS3Server()
    const app = await testApp({ store, env: s3.env })
    const owner = await ownerOf(app)
    const hanging = new Promise<never>(() => {})
    const stuck = async function* () {
      for (let i = 0; i < 20; i++) yield randomBytesOf(MIB)
      await hanging
    }
    // The process of this upload never sends its end, as if it had died.
    void storeFile(app.ctx, owner, { name: 'a' }, stuck())
    await until(async () => s3.storedParts() === 2)
    await removeUnfinishedFiles(app.ctx)
    expect(s3.uploadFolders()).toHaveLength(1)
    // Advancing the clock by a day would run every sweep thousands of times.
    const twoDaysAgo = new Date(app.clock.now() - 48 * 60 * 60_000).toISOString()
    await inTx(app.ctx, (tx) => tx.db.updateTable('files').set({ created_at: twoDaysAgo }).execute())
    await removeUnfinishedFiles(app.ctx)
    expect(s3.uploadFolders()).toEqual([])
    expect(await app.ctx.db.selectFrom('files').selectAll().execute()).toEqual([])
    expect((await readStorageUsage(app.ctx, owner.projectId)).stored_bytes).toBe(0)
  })
})

test('a file that was deleted while the object store was away is removed by the cleanup', async () => {
  const s3 = await openS3Server()
  const app = await testApp({ store: 'sqlite', env: s3.env })
  const file = await storeFile(app.ctx, await ownerOf(app), { name: 'a' }, inSlices(randomBytesOf(10), 10))
  const { s3: config } = app.ctx.config
  if (!config) throw new Error('no object store')
  const { bucketUrl } = config
  config.bucketUrl = 'http://127.0.0.1:9/files'
  const read = app.call('GET', `/v1/files/${file.id}`)
  await advanceUntilSettled(app, read)
  expect(await read).toMatchObject({ status: 502, body: { error: 'the file storage did not answer as expected' } })
  const deleted = app.call('DELETE', `/v1/files/${file.id}`)
  await advanceUntilSettled(app, deleted)
  expect((await deleted).status).toBe(204)
  expect((await app.call('GET', `/v1/files/${file.id}/meta`)).status).toBe(404)
  config.bucketUrl = bucketUrl
  expect(await s3.keys()).toHaveLength(1)
  await removeUnfinishedFiles(app.ctx)
  expect(await s3.keys()).toEqual([])
  expect(app.logged.join('')).not.toContain('S3RVER')
})

test('a bucket that does not exist fails an upload with a sentence, and the log names the cause', async () => {
  const s3 = await openS3Server()
  const app = await testApp({ store: 'sqlite', env: { ...s3.env, SVC_FILES: 's3://absent' } })
  const { status, body } = await app.call('POST', '/v1/files?name=a', {})
  expect([status, body]).toEqual([502, { error: 'the file storage did not answer as expected' }])
  expect(app.logged.join('')).toContain('NoSuchBucket')
})

test('the service does not start with settings for the object store that cannot work', async () => {
  const s3 = await openS3Server()
  const start = (env: Record<string, string>) => startTestApp({ store: 'sqlite', env: { ...s3.env, ...env } })
  await expect(start({ AWS_SECRET_ACCESS_KEY: '' })).rejects.toThrow(
    'AWS_SECRET_ACCESS_KEY is required when SVC_FILES is set',
  )
  for (const target of ['files', 's3://', 's3://Files', 's3://files/../x', 's3://files/a//x', 's3://files/a b'])
    await expect(start({ SVC_FILES: target })).rejects.toThrow('SVC_FILES must be s3://BUCKET or s3://BUCKET/PREFIX')
  await expect(start({ SVC_S3_ENDPOINT: 'files.example' })).rejects.toThrow('SVC_S3_ENDPOINT must be an http')
})

test('a file that is in the object store is a 503 if the service has none any more', async () => {
  const app = await testApp({ store: 'sqlite' })
  const { projectId } = await ownerOf(app)
  const id = app.ctx.world.newId('file')
  await inTx(app.ctx, (tx) =>
    insertFile(tx.db, {
      id,
      project_id: projectId,
      client_id: null,
      name: 'a',
      content_type: 'text/plain',
      size: 1,
      sha256: 'x',
      state: 'stored',
      storage: 's3',
      upload_id: null,
      created_by: '{}',
      created_at: new Date(app.clock.now()).toISOString(),
    }),
  )
  const { status, body } = await app.call('GET', `/v1/files/${id}`)
  expect([status, body.error]).toEqual([503, 'the file is in an object store, but SVC_FILES is not set'])
})

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10))
}
