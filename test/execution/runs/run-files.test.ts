import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { insertMessageFiles } from '../../../src/work/files/rows.ts'
import { ECHO_WEDGE, anyStore, sharedApp, type TestApp, testApp } from '../../app.ts'
import { addConnections, GATED_ENV, requestedApprovalId } from '../../approvals/decisions/gated-app.ts'
import { createAndGetId, sendInbound } from '../../customers/channels/channel-app.ts'
import { addFile, PNG } from '../../work/files/add-file.ts'
import { openFakeUpstream } from '../../fake-upstream.ts'
import { fakeProvider, providerStreams } from '../models/fake-provider.ts'
import { runScript, scriptedAgentFolder } from './scripted-agent.ts'

const read = (file: string) => ({ call: { tool: 'file_read', input: { file } } })

const WEDGES = {
  'shared/wedge.json': { wedge: 'shared', task_types: { read: {}, ask: {} } },
  'shared/rehearsals/read.json': [read('{{input.file}}'), { output: '{{last}}' }],
  'shared/rehearsals/ask.json': [
    { call: { tool: 'ask_person', input: { question: 'Go on?', to: 'team' } } },
    read('notes.txt'),
    { output: '{{last}}' },
  ],
}

const startRead = (app: TestApp, files: string[], file: string) =>
  app.createTask({ wedge: 'shared', task_type: 'read', input: { file }, files })

/** The folders of runs in the cells of this process. */
const foldersOfRuns = () =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith(`svc-files-${process.pid}-`))
    .flatMap((name) => readdirSync(join(tmpdir(), name)))

anyStore((store) => {
  describe('files of a task', () => {
    const app = sharedApp({ store, wedges: WEDGES, env: { SVC_TASK_RATE_PER_MIN: '1000' } })

    test('are shown with the task, and a retry keeps those that still exist', async () => {
      const [first, second] = [await addFile(app(), 'a.txt', 'alpha'), await addFile(app(), 'b.txt', 'beta')]
      const task = await startRead(app(), [second.id, first.id], 'a.txt')
      const shown = [
        { id: second.id, name: 'b.txt', content_type: 'text/plain', size: 4, sha256: second.sha256 },
        { id: first.id, name: 'a.txt', content_type: 'text/plain', size: 5, sha256: first.sha256 },
      ]
      expect(task.files).toMatchObject(shown)
      expect(await app().finished(task.id)).toMatchObject({ status: 'succeeded', files: shown })
      const listed = (await app().call('GET', '/v1/tasks?limit=100')).body.data
      expect(listed.find(({ id }: { id: string }) => id === task.id).files).toMatchObject(shown)
      await app().call('DELETE', `/v1/files/${second.id}`)
      const retried = await app().call('POST', `/v1/tasks/${task.id}/retry`)
      expect(retried.body.files).toMatchObject([{ id: first.id }])
      expect(await app().finished(retried.body.id)).toMatchObject({ output: { content: 'alpha' } })
    })

    test('must exist in the project', async () => {
      const foreign = await addFile(app(), 'a.txt', 'alpha', { projectId: 'prj_other' })
      for (const files of [['file_unknown'], ['nothing'], [foreign.id]]) {
        const refused = await app().call('POST', '/v1/tasks', { wedge: 'shared', task_type: 'read', files })
        expect(refused).toMatchObject({ status: 400, body: { error: `no such file: ${files[0]}` } })
      }
    })

    test('are read by name or id, and the log does not show their content', async () => {
      const file = await addFile(app(), 'notes.txt', 'the secret plan')
      const task = await startRead(app(), [file.id], file.id)
      expect(await app().finished(task.id)).toMatchObject({
        status: 'succeeded',
        output: { content: 'the secret plan', size: 15, next_offset: null },
      })
      const results = (await app().events(task.id)).filter(({ event }) => event === 'tool.result')
      expect(results[0]?.data.data.output).toEqual({ size: 15, next_offset: null })
      const other = await startRead(app(), [file.id], 'other.txt')
      expect(await app().finished(other.id)).toMatchObject({
        output: { error: `there is no such file: the files are notes.txt (${file.id})` },
      })
    })

    test('runs that share a cell read their own files of one name, which are removed with the run', async () => {
      const files = await Promise.all(['one', 'two', 'three'].map((text) => addFile(app(), 'notes.txt', text)))
      const tasks = await Promise.all(files.map(({ id }) => startRead(app(), [id], 'notes.txt')))
      const outputs = await Promise.all(tasks.map(async ({ id }) => (await app().finished(id)).output))
      expect(outputs).toMatchObject([{ content: 'one' }, { content: 'two' }, { content: 'three' }])
      await expect.poll(foldersOfRuns).toEqual([])
    })

    test('a run that was parked finds its files again', async () => {
      const file = await addFile(app(), 'notes.txt', 'still here')
      const { id } = await app().createTask({ wedge: 'shared', task_type: 'ask', files: [file.id] })
      const approval = await requestedApprovalId(app(), id)
      await expect
        .poll(async () => {
          await app().clock.advance(1_000)
          return (await app().ctx.db.selectFrom('tasks').select('replica').where('id', '=', id).execute())[0]?.replica
        })
        .toBeNull()
      await expect.poll(foldersOfRuns).toEqual([])
      await app().call('POST', `/v1/approvals/${approval}/approve`, { edited: { answer: 'yes' } })
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { content: 'still here' } })
    })
  })

  test('a task of a thread reads the files of its messages, and not those of other clients', async () => {
    const app = await testApp({
      store,
      wedges: { ...WEDGES, 'shared/rehearsals/read.json': [read('invoice.csv'), { output: '{{last}}' }] },
    })
    const connection = await createAndGetId(app, '/v1/connections', { kind: 'email', name: 'mail' })
    const binding = { connection_id: connection, address: 'a@desk.example', wedge: 'shared', task_type: 'read' }
    const channelApp = { ...app, channel: await createAndGetId(app, '/v1/channels', binding) }
    const first = await sendInbound(channelApp, 'kim@example.com')
    await app.finished(first.task_id)
    const file = await addFile(app, 'invoice.csv', 'a;b', { clientId: first.client_id })
    const [message] = await app.ctx.db
      .selectFrom('messages')
      .select('id')
      .where('thread_id', '=', first.thread_id)
      .where('direction', '=', 'inbound')
      .execute()
    await inTx(app.ctx, (tx) => insertMessageFiles(tx.db, message?.id ?? '', [file.id]))
    const second = await sendInbound(channelApp, 'kim@example.com')
    expect(await app.finished(second.task_id)).toMatchObject({ output: { content: 'a;b' } })
    const other = await sendInbound(channelApp, 'lee@example.com')
    const { output } = await app.finished(other.task_id)
    expect(JSON.stringify(output)).toContain("there is no tool 'file_read'")
  })
})

describe.each(['bwrap', 'process'])('a custom agent in %s', (sandbox) => {
  const app = sharedApp({
    store: 'sqlite',
    wedges: ECHO_WEDGE,
    env: { SVC_SANDBOX: sandbox, SVC_POOL: '1', ...scriptedAgentFolder() },
  })

  test('finds its files below $HOME/in and can not change them', async () => {
    const files = [await addFile(app(), 'notes.txt', 'one'), await addFile(app(), 'Notes.txt', 'two')]
    const { task } = await runScript(
      app(),
      `const fs = require('node:fs')
       const attempt = (work) => { try { work(); return 'done' } catch (error) { return error.code } }
       const home = process.env.HOME + '/in'
       say({ output: {
         names: fs.readdirSync(home).sort(),
         files: brief.files.map(({ name, path, size, content_type }) => [name, fs.readFileSync(path, 'utf8'), size, content_type]),
         write: attempt(() => fs.writeFileSync(brief.files[0].path, 'x')),
         add: attempt(() => fs.writeFileSync(home + '/new.txt', 'x')),
         remove: attempt(() => fs.unlinkSync(brief.files[0].path)),
       } })`,
      { files: files.map(({ id }) => id) },
    )
    const refused = expect.stringMatching(/^(EROFS|EACCES|EPERM)$/)
    expect(task.output).toEqual({
      names: ['Notes (2).txt', 'notes.txt'],
      files: [
        ['notes.txt', 'one', 3, 'text/plain'],
        ['Notes.txt', 'two', 3, 'text/plain'],
      ],
      write: refused,
      add: refused,
      remove: refused,
    })
  })

  test('a task without files has an empty list, and the next run does not see the files of the one before', async () => {
    const { task } = await runScript(
      app(),
      `say({ output: [brief.files, require('node:fs').readdirSync(process.env.HOME + '/in')] })`,
    )
    expect(task.output).toEqual([[], []])
  })
})

test('the shared cell of bwrap shows each run its own files', async () => {
  const app = await testApp({ store: 'sqlite', wedges: WEDGES, env: { SVC_SANDBOX: 'bwrap' } })
  const files = await Promise.all(['one', 'two'].map((text) => addFile(app, 'notes.txt', text)))
  const tasks = await Promise.all(files.map(({ id }) => startRead(app, [id], 'notes.txt')))
  const outputs = await Promise.all(tasks.map(async ({ id }) => (await app.finished(id)).output))
  expect(outputs).toMatchObject([{ content: 'one' }, { content: 'two' }])
})

test.each(['anthropic', 'openai'] as const)('the model sees images in %s, and no transcript has them', async (wire) => {
  const turn = (name: string, input: JsonObject) => ({ chunks: [providerStreams[wire]({ call: { name, input } })] })
  const provider = await fakeProvider(turn('file_read', { file: 'a.csv' }), turn('finish', { output: 'seen' }))
  const app = await testApp({
    store: 'sqlite',
    wedges: { 'desk/wedge.json': { wedge: 'desk', task_types: { look: { harness: { resume: true } } } } },
    env: {
      SVC_MODEL: wire === 'anthropic' ? 'anthropic/claude-sonnet-4-5' : 'openai/gpt-4o',
      ANTHROPIC_BASE_URL: provider.url,
      OPENAI_BASE_URL: `${provider.url}/v1`,
      ANTHROPIC_API_KEY: 'key',
      OPENAI_API_KEY: 'key',
    },
  })
  const files = [await addFile(app, 'a.png', PNG), await addFile(app, 'a.csv', 'x;y')]
  const { id } = await app.createTask({ wedge: 'desk', task_type: 'look', files: files.map((file) => file.id) })
  expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: 'seen' })
  const image = PNG.toString('base64')
  expect(provider.seen).toHaveLength(2)
  for (const { body } of provider.seen) expect(JSON.stringify(body).split(image)).toHaveLength(2)
  expect(JSON.stringify(provider.seen[0]?.body)).toContain(`- ${files[1]?.id}: `)
  expect(JSON.stringify(provider.seen[1]?.body)).toContain('x;y')
  const stored = [
    await app.ctx.db.selectFrom('transcripts').selectAll().execute(),
    await app.ctx.db.selectFrom('events').selectAll().execute(),
  ]
  expect(JSON.stringify(stored)).not.toContain(image)
  expect(stored[0]).not.toEqual([])
})

test('a file that an agent wrote can be sent with an action', async () => {
  const outside = await openFakeUpstream()
  const app = await testApp({
    store: 'sqlite',
    wedges: {
      'desk/wedge.json': {
        wedge: 'desk',
        connections: ['crm'],
        tools: ['files', 'shell'],
        policy: { auto_approve: [{ action: 'crm' }] },
        task_types: { report: {} },
      },
      'desk/rehearsals/report.json': [
        {
          call: { tool: 'run_command', input: { command: 'head -c 2000000 /dev/zero | tr "\\0" x > out/report.csv' } },
        },
        { call: { tool: 'file_attach', input: { path: 'out/report.csv' } } },
        { call: { tool: 'act', input: { capability: 'crm', payload: { file: { $file: '{{last.id}}' } } } } },
        { output: '{{last}}' },
      ],
    },
    env: { ...GATED_ENV, SVC_SANDBOX: 'bwrap' },
  })
  await addConnections(app, outside.url)
  const { id } = await app.createTask({ wedge: 'desk', task_type: 'report' })
  expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
  const [sent] = outside.received.map(({ body }) => JSON.parse(body))
  expect(Buffer.from(sent.file, 'base64').equals(Buffer.alloc(2_000_000, 'x'))).toBe(true)
  const [file] = (await app.call('GET', '/v1/files')).body.data
  expect(file).toMatchObject({ name: 'report.csv', content_type: 'text/csv', size: 2_000_000 })
  await outside.close()
})
