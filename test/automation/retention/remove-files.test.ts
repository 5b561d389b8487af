import { expect, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { receiveWithFiles } from '../../../src/customers/channels/store-attachments.ts'
import {
  removeUnfinishedFiles,
  removeUnusedFiles,
  removeUnusedIncomingFiles,
} from '../../../src/automation/retention/remove-files.ts'
import { insertMessageFiles, insertTaskFiles } from '../../../src/work/files/rows.ts'
import { anyStore, eachStore, type TestApp, testApp } from '../../app.ts'
import { inboundMail, openChannelApp, openPortal, sendInbound } from '../../customers/channels/channel-app.ts'
import { SCRIPTED_AGENT } from '../../work/tasks/scripted-agent.ts'
import { openS3Server } from '../../work/files/s3-server.ts'

const CANARY = 'canary-7f3a'
const OLD = '2020-01-01T00:00:00.000Z'

async function upload(app: TestApp, name: string, path = '/v1/files', key = app.key): Promise<string> {
  const { status, body } = await app.call('POST', `${path}?name=${name}`, { text: CANARY }, { key })
  expect(status).toBe(201)
  return body.id
}

const names = async (app: TestApp): Promise<string[]> =>
  (await app.call('GET', '/v1/files?limit=200')).body.data.map(({ name }: { name: string }) => name).toSorted()

anyStore((store) => {
  test('old files go when nothing uses them any more: no message, and no task that still has its log', async () => {
    const app = await testApp({ store })
    const { id: pruned } = await app.createTask()
    const { id: logged } = await app.createTask()
    await app.finished(pruned)
    await app.finished(logged)
    const ids: Record<string, string> = {}
    for (const name of ['unused', 'of-pruned', 'of-logged', 'of-both', 'of-message', 'young'])
      ids[name] = await upload(app, name)
    await inTx(app.ctx, async ({ db }) => {
      await insertTaskFiles(db, pruned, [ids['of-pruned'] ?? '', ids['of-both'] ?? ''])
      await insertTaskFiles(db, logged, [ids['of-logged'] ?? '', ids['of-both'] ?? ''])
      await insertMessageFiles(db, 'msg_1', [ids['of-message'] ?? ''])
      await db.updateTable('tasks').set({ log_pruned_at: OLD }).where('id', '=', pruned).execute()
      await db.updateTable('files').set({ created_at: OLD }).where('name', '<>', 'young').execute()
    })
    await removeUnusedFiles(app.ctx, 30)
    expect(await names(app)).toEqual(['of-both', 'of-logged', 'of-message', 'young'])
    expect((await app.call('GET', '/v1/audit?limit=200')).body.data).toContainEqual(
      expect.objectContaining({ action: 'file.deleted', subject: ids.unused, actor: { kind: 'system', id: 'system' } }),
    )
    expect(await app.ctx.db.selectFrom('file_chunks').select('file_id').execute()).toHaveLength(4)
  })

  test('what clients sent and no message has is removed after a day, without a setting', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const used = await upload(app, 'used', '/v1/portal/files', ada.key)
    for (const name of ['abandoned', 'today']) await upload(app, name, '/v1/portal/files', ada.key)
    await upload(app, 'of-team')
    await ada.portal('POST', `threads/${ada.thread_id}/messages`, { body: 'See the file', files: [used] })
    await inTx(app.ctx, ({ db }) =>
      db.updateTable('files').set({ created_at: OLD }).where('name', '<>', 'today').execute(),
    )
    await removeUnusedIncomingFiles(app.ctx)
    expect(await names(app)).toEqual(['of-team', 'today', 'used'])
  })

  test('a file of an inbound message belongs to the client of the message', async () => {
    const app = await openChannelApp(store, 'reply')
    const [file, another] = [await upload(app, 'a.json'), await upload(app, 'b.json')]
    const ada = await sendInbound(app, 'ada@example.com', { files: [file] })
    const path = `/v1/channels/${app.channel}/inbound`
    const foreign = await app.call('POST', path, inboundMail('bob@example.com', { files: [another, file] }))
    expect([foreign.status, foreign.body.error]).toEqual([400, `no such file: ${file}`])
    await sendInbound(app, 'ada@example.com', { files: [file] })
    expect((await app.call('GET', `/v1/files?client_id=${ada.client_id}`)).body.data).toMatchObject([{ id: file }])
    const { body } = await app.call('POST', `/v1/clients/${ada.client_id}/erase`)
    expect(body.erased.files).toBe(1)
    expect(await names(app)).toEqual(['b.json'])
  })

  test("the files of one client have a limit, which leaves room for the others'", async () => {
    const app = await openChannelApp(store, 'desk', { SVC_MAX_CLIENT_MB: '1' })
    const [ada, eve] = [await openPortal(app, 'ada@example.com'), await openPortal(app, 'eve@example.com')]
    const send = (key: string) =>
      app.call('POST', '/v1/portal/files?name=large', { text: 'x'.repeat(300_000) }, { key })
    const sent = await Promise.all(Array.from({ length: 6 }, () => send(ada.key)))
    expect(sent.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 201, 429, 429, 429])
    expect(sent.find(({ status }) => status === 429)?.body.error).toMatch(
      /^the files of the client take more than 1 MB/,
    )
    expect((await send(eve.key)).status).toBe(201)
    const stored = sent.find(({ status }) => status === 201)?.body.id
    expect((await app.call('DELETE', `/v1/files/${stored}`)).status).toBe(204)
    expect((await send(ada.key)).status).toBe(201)
  })

  test("erasing a client removes its files from database and object store, and leaves the team's", async () => {
    const s3 = await openS3Server()
    for (const env of [{}, s3.env]) {
      const app = await openChannelApp(store, 'reply', env)
      const ada = await openPortal(app, 'ada@example.com')
      const eve = await openPortal(app, 'eve@example.com')
      await app.finished(ada.task_id)
      const own = await upload(app, `${CANARY}.json`, '/v1/portal/files', ada.key)
      const others = await upload(app, 'eve.json', '/v1/portal/files', eve.key)
      const team = await upload(app, 'team.json')
      await inTx(app.ctx, ({ db }) => insertTaskFiles(db, ada.task_id, [own, team]))
      const { body } = await app.call('POST', `/v1/clients/${ada.client_id}/erase`)
      expect(body.erased.files).toBe(1)
      expect(await names(app)).toEqual(['eve.json', 'team.json'])
      expect(await app.ctx.db.selectFrom('task_files').selectAll().execute()).toEqual([])
      const left = [others, team].toSorted()
      if (env === s3.env) expect(await s3.keys()).toEqual(left.map((id) => `desk/${id}`))
      else expect((await app.ctx.db.selectFrom('file_chunks').select('file_id').execute()).length).toBe(2)
    }
  })
})

eachStore((store) => {
  test('one file in two inbound messages at once belongs to one client', async () => {
    const app = await openChannelApp(store)
    const file = await upload(app, 'a.json')
    const senders = Array.from({ length: 10 }, (_, n) => inboundMail(`client-${n}@example.com`, { files: [file] }))
    const path = `/v1/channels/${app.channel}/inbound`
    const sent = await Promise.all(senders.map((message) => app.call('POST', path, message)))
    expect(sent.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: 9 }, () => 400),
    ])
  })

  test('a message that is delivered many times at once leaves no unused files', async () => {
    const app = await openChannelApp(store)
    const channel = (await app.ctx.db.selectFrom('channels').selectAll().execute())[0]
    if (!channel) throw new Error('no channel')
    const open = async function* () {
      yield Buffer.from(CANARY)
    }
    const message = {
      externalId: 'delivered-often',
      from: { handle: 'ada@example.com', name: null },
      body: 'See the file',
      subject: null,
      conversationKey: '',
      address: {},
      files: [{ name: 'a.txt', contentType: 'text/plain', open }],
    }
    const receipts = await Promise.all(Array.from({ length: 20 }, () => receiveWithFiles(app.ctx, channel, message)))
    expect(receipts.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(await names(app)).toEqual(['a.txt'])
    const broken = { ...channel, wedge: 'absent' }
    await expect(receiveWithFiles(app.ctx, broken, { ...message, externalId: 'broken' })).rejects.toThrow()
    expect(await names(app)).toEqual(['a.txt'])
  })
})

test('artifacts go to the object store, are served from there and leave it with their task', async () => {
  const s3 = await openS3Server()
  const app = await testApp({ store: 'sqlite', env: { ...s3.env, ...SCRIPTED_AGENT } })
  const content = Buffer.from('<svg/>').toString('base64')
  const artifact = { name: 'client/a.svg', content_type: 'image/svg+xml', content_base64: content }
  const { id } = await app.createTask({ input: [{ artifact }, { output: { a: 1 } }] })
  const task = await app.finished(id)
  expect(task.status).toBe('succeeded')
  const [output, file] = task.artifacts as { id: string; size: number }[]
  expect(await s3.keys()).toEqual([`desk/${file?.id}`])
  expect(await app.ctx.db.selectFrom('artifact_files').selectAll().execute()).toEqual([])
  expect(await app.ctx.db.selectFrom('files').selectAll().execute()).toEqual([])
  const served = await app.call('GET', `/v1/artifacts/${file?.id}`)
  expect([served.status, served.body, served.headers.get('content-disposition')]).toEqual([
    200,
    '<svg/>',
    "attachment; filename*=UTF-8''client%2Fa.svg",
  ])
  expect((await app.call('GET', `/v1/artifacts/${output?.id}`)).body).toEqual({ a: 1 })
  const { body: client } = await app.call('POST', '/v1/clients', {})
  await inTx(app.ctx, ({ db }) => db.updateTable('tasks').set({ client_id: client.id }).execute())
  expect((await app.call('POST', `/v1/clients/${client.id}/erase`)).body.erased.files).toBe(1)
  await removeUnfinishedFiles(app.ctx)
  expect(await s3.keys()).toEqual([])
})

test('an artifact may be larger than 10 MiB in the object store, and not in the database', async () => {
  const s3 = await openS3Server()
  const write = 'require("fs").writeFileSync(process.env.HOME + "/out/large.bin", Buffer.alloc(15 << 20))'
  const env = { SVC_AGENT_COMMAND: `node -e '${write}; console.log(JSON.stringify({ output: {} }))'` }
  const inDatabase = await testApp({ store: 'sqlite', env })
  const refused = await inDatabase.finished((await inDatabase.createTask()).id)
  expect(refused).toMatchObject({ status: 'succeeded', artifacts: [{ name: 'output.json' }] })
  const inBucket = await testApp({ store: 'sqlite', env: { ...env, ...s3.env } })
  const { artifacts } = await inBucket.finished((await inBucket.createTask()).id)
  expect(artifacts).toMatchObject([{ name: 'output.json' }, { name: 'large.bin', size: 15 << 20 }])
  const [, large] = artifacts as { id: string }[]
  const response = await fetch(`${inBucket.url}/v1/artifacts/${large?.id}`, {
    headers: { authorization: `Bearer ${inBucket.key}` },
  })
  expect((await response.arrayBuffer()).byteLength).toBe(15 << 20)
})

test('a run whose files cannot be stored fails with that reason', async () => {
  const s3 = await openS3Server()
  const app = await testApp({ store: 'sqlite', env: { ...s3.env, ...SCRIPTED_AGENT, SVC_FILES: 's3://absent' } })
  const artifact = { name: 'a.txt', content_type: 'text/plain', content_base64: 'aGk=' }
  const { id } = await app.createTask({ input: [{ artifact }, { output: {} }] })
  expect(await app.finished(id)).toMatchObject({
    status: 'failed',
    error: { reason: 'sandbox_failed', message: 'the files of the run could not be stored' },
  })
})
