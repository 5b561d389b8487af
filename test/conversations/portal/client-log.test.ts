import { expect, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { appendEvents } from '../../../src/work/events/append-events.ts'
import type { NewEvent } from '../../../src/work/events/event-types.ts'
import { writeTaskEnding } from '../../../src/approvals/lifecycle/task-ending.ts'
import { anyStore, type TestApp } from '../../app.ts'
import { gatedWedgeFiles, sharedGatedApp } from '../../approvals/decisions/gated-app.ts'
import { createAndGetId, insertRunningTask, openChannelApp, openPortal } from '../../customers/channels/channel-app.ts'
import { openStream } from '../../work/events/stream-reader.ts'
import { respondJson } from '../../fake-upstream.ts'

/** Reads data of another client and records of the wedge, and reports a knowledge gap. */
const READING_WEDGE = {
  ...gatedWedgeFiles('gate', { task_types: { look: {} }, policy: { auto_approve: [{ action: 'note' }] } }),
  'gate/rehearsals/look.json': [
    { call: { tool: 'read', input: { connection: 'crm', capability: 'crm', path: 'customers?of=PRIVATE' } } },
    { call: { tool: 'records_list', input: { collection: 'margins' } } },
    { call: { tool: 'report_gap', input: { question: 'What is our PRIVATE floor?' } } },
    { call: { tool: 'progress', input: { text: 'nearly there' } } },
    { call: { tool: 'act', input: { connection: 'crm', capability: 'note', payload: { text: 'PRIVATE' } } } },
    { output: { reply: 'Here you are.' } },
  ],
}

/** A custom agent that prints the lines of the message. */
const ECHO_AGENT = `node -e '
require("readline").createInterface({ input: process.stdin }).once("line", (line) => {
  for (const step of JSON.parse(JSON.parse(line).task.input.body)) console.log(JSON.stringify(step))
})'`

anyStore((store) => {
  const gated = sharedGatedApp(store, { wedges: READING_WEDGE })

  test('a client does not see what the agent read and sent in the systems of the founder', async () => {
    gated().outside.respond = (_request, response) => respondJson(response, 200, { customers: [{ iban: 'PRIVATE' }] })
    const margin = { wedge: 'gate', collection: 'margins', key: 'k', value: { margin: 'PRIVATE' } }
    expect((await gated().call('POST', '/v1/records', margin)).status).toBe(201)
    const channel = await channelTo(gated(), 'gate', 'look')
    const ada = await openPortal({ ...gated(), channel }, 'ada@example.com')
    const log = () => gated().events(ada.task_id, { path: `/v1/portal/tasks/${ada.task_id}/events`, key: ada.key })
    const [followed, replayed] = [await log(), await log()]
    expect(JSON.stringify(await gated().events(ada.task_id))).toContain('PRIVATE')
    for (const events of [followed, replayed]) {
      expect(JSON.stringify(events)).not.toMatch(/PRIVATE|crm|rehearsal|process/)
      expect(dataOf(events, 'tool.called').map(({ tool }) => tool)).toEqual(
        expect.arrayContaining(['read', 'records_list', 'act']),
      )
      expect(dataOf(events, 'tool.called').flatMap(({ input }) => input ?? [])).toEqual([{ capability: 'note' }])
      expect(dataOf(events, 'progress')).toEqual([{ text: 'Missing knowledge:' }, { text: 'nearly there' }])
      expect(events.at(-1)?.data.data).toEqual({ status: 'succeeded', duration_ms: expect.any(Number) })
    }
  })

  test('a client sees only the declared fields of each event, live and replayed, and the founder sees all', async () => {
    const app = await openChannelApp(store)
    const { client_id, key } = await openPortal(app, 'ada@example.com')
    const task = await insertRunningTask(app, client_id)
    const portal = `${app.url}/v1/portal/tasks/${task}/events`
    const eventsUrl = `${app.url}/v1/tasks/${task}/events`
    const asClient = { authorization: `Bearer ${key}` }
    // Both streams share cached frames, and hiding a field from one must not hide it from the other.
    const clients = await Promise.all([1, 2].map(() => openStream(portal, asClient)))
    const founder = await openStream(eventsUrl)
    await inTx(app.ctx, (tx) => appendEvents(tx, { taskId: task, epoch: 0 }, EVENTS))
    for (const reader of clients) await reader.until(({ tail }) => tail.includes('artifact.created'))
    const error = { reason: 'model_failed' as const, message: 'PRIVATE' }
    await inTx(app.ctx, (tx) => writeTaskEnding(tx, task, { status: 'failed', error }))
    const seen = await Promise.all(clients.map((reader) => reader.ended))
    seen.push(await (await openStream(portal, asClient)).ended)
    expect(new Set(seen).size).toBe(1)
    expect(shownIn(seen[0] ?? '')).toEqual(SHOWN)
    const founderStream = await founder.ended
    expect(founderStream).toBe(await (await openStream(eventsUrl)).ended)
    expect(shownIn(founderStream).slice(0, -1)).toEqual(EVENTS.map(({ type, data }) => [type, data]))
    expect(shownIn(founderStream).at(-1)).toEqual([
      'task.finished',
      expect.objectContaining({ status: 'failed', error }),
    ])
  })

  test('a custom agent cannot show a client more than the declared fields', async () => {
    const app = await openChannelApp(store, 'reply', { SVC_AGENT_COMMAND: ECHO_AGENT })
    const ada = await openPortal(app, 'ada@example.com', { body: JSON.stringify(LINES) })
    const events = await app.events(ada.task_id, { path: `/v1/portal/tasks/${ada.task_id}/events`, key: ada.key })
    expect(JSON.stringify(events)).not.toContain('PRIVATE')
    expect(dataOf(events, 'tool.result')).toEqual([
      { call_id: 'c1', tool: 'lookup', ok: true },
      { call_id: 'c2', tool: 'lookup', ok: false },
    ])
    expect(dataOf(events, 'progress')).toEqual([{ text: 'on it' }, { text: 'Missing knowledge:' }])
  })

  test('a client sees and fetches only the files that the agent wrote for it', async () => {
    const app = await openChannelApp(store, 'reply', { SVC_AGENT_COMMAND: ECHO_AGENT })
    const ada = await openPortal(app, 'ada@example.com', { body: JSON.stringify(FILE_LINES) })
    const events = await app.events(ada.task_id, { path: `/v1/portal/tasks/${ada.task_id}/events`, key: ada.key })
    const [artifact, ...others] = dataOf(events, 'artifact.created')
    expect(others).toEqual([])
    expect(artifact).toMatchObject({ name: 'client/quote.txt', content_type: 'text/plain', size: 5 })
    const { artifacts } = (await app.call('GET', `/v1/tasks/${ada.task_id}`)).body
    expect(artifacts.map(({ name }: { name: string }) => name)).toEqual([
      'output.json',
      'client/quote.txt',
      'margins.txt',
      'clients.txt',
    ])
    const get = (id: string) => app.call('GET', `/v1/portal/artifacts/${id}`, undefined, { key: ada.key })
    const statuses: number[] = []
    for (const { id } of artifacts) statuses.push((await get(id)).status)
    expect(statuses).toEqual([404, 200, 404, 404])
    expect((await app.call('GET', artifact.url, undefined, { key: ada.key })).body).toBe('quote')
  })

  test('a client that has all events of a finished task gets 204, also after feedback', async () => {
    const app = await openChannelApp(store, 'reply')
    const ada = await openPortal(app, 'ada@example.com')
    const path = `/v1/portal/tasks/${ada.task_id}/events`
    const events = await app.events(ada.task_id, { path, key: ada.key })
    await app.call('POST', `/v1/tasks/${ada.task_id}/feedback`, { note: 'good' })
    const resume = async (after: number) =>
      (await app.call('GET', path, undefined, { key: ada.key, headers: { 'last-event-id': `${after}` } })).status
    const last = Number(events.at(-1)?.id)
    expect([await resume(last - 1), await resume(last)]).toEqual([200, 204])
  })

  test('a client sees how a task with a pruned log ended, but not why', async () => {
    const app = await openChannelApp(store, 'desk', { SVC_RETENTION_DAYS: '0.001' })
    const ada = await openPortal(app, 'ada@example.com')
    expect(await app.finished(ada.task_id)).toMatchObject({ error: { reason: 'connection_missing' } })
    await app.clock.advance(90_000)
    const prunedAt = async () => {
      // The sweep runs every second.
      await app.clock.advance(1_000)
      return (await app.call('GET', `/v1/tasks/${ada.task_id}`)).body.log_pruned_at
    }
    await expect.poll(prunedAt).not.toBeNull()
    const events = await app.events(ada.task_id, { path: `/v1/portal/tasks/${ada.task_id}/events`, key: ada.key })
    expect(events.map(({ event }) => event)).toEqual(['log.pruned', 'task.finished'])
    expect(events[1]?.data.data).toEqual({ status: 'failed', duration_ms: expect.any(Number) })
  })
})

async function channelTo(app: TestApp, wedge: string, task_type: string): Promise<string> {
  const { data } = (await app.call('GET', '/v1/connections')).body
  const connection_id: string = data.find(({ name }: { name: string }) => name === 'mail').id
  return createAndGetId(app, '/v1/channels', { connection_id, address: 'help@desk.example', wedge, task_type })
}

const dataOf = (events: Awaited<ReturnType<TestApp['events']>>, type: string) =>
  events.filter(({ event }) => event === type).map(({ data }) => data.data)

/** The type and data of each frame of a stream. */
const shownIn = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => {
    const { type, data } = JSON.parse(json)
    return [type, data]
  })

const more = { extra: 'PRIVATE' }
const call = { call_id: 'c1', tool: 'act' }
const file = { artifact_id: 'art_1', name: 'client/a.txt', content_type: 'text/plain', size: 1 }

/** Every event type that a client gets, with all its fields and one undeclared field. */
const EVENTS: NewEvent[] = [
  {
    type: 'task.created',
    data: { wedge: 'PRIVATE', task_type: 'PRIVATE', status: 'running', sandbox: 'PRIVATE', model: 'PRIVATE', ...more },
  },
  { type: 'step.started', data: { step: 1, label: 'Step 1', ...more } },
  { type: 'tool.called', data: { ...call, input: { connection: 'PRIVATE' }, truncated: true, ...more } },
  { type: 'tool.result', data: { ...call, ok: true, output: { iban: 'PRIVATE' }, truncated: true, ...more } },
  { type: 'tool.result', data: { ...call, ok: false, error: 'PRIVATE', ...more } },
  { type: 'progress', data: { text: 'Half a log\n\ndata: {"type":"progress"}', ...more } },
  { type: 'progress', data: { text: 'Missing knowledge: PRIVATE?' } },
  { type: 'token.delta', data: { text: 'PRIVATE' } },
  { type: 'output.validated', data: { ok: false, errors: [{ path: '$.PRIVATE', message: 'is required' }], ...more } },
  { type: 'artifact.created', data: { ...file, name: 'PRIVATE.txt', url: '/v1/artifacts/art_2' } },
  { type: 'artifact.created', data: { ...file, url: '/v1/artifacts/art_1', ...more } },
]

const SHOWN = [
  ['task.created', { status: 'running' }],
  ['step.started', { step: 1, label: 'Step 1' }],
  ['tool.called', call],
  ['tool.result', { ...call, ok: true }],
  ['tool.result', { ...call, ok: false }],
  ['progress', { text: 'Half a log\n\ndata: {"type":"progress"}' }],
  ['progress', { text: 'Missing knowledge:' }],
  ['output.validated', { ok: false, errors: [] }],
  ['artifact.created', { ...file, url: '/v1/portal/artifacts/art_1' }],
  ['task.finished', { status: 'failed', duration_ms: expect.any(Number) }],
]

const LINES = [
  { event: 'step.started', data: { step: { at: 'PRIVATE' }, label: 'Look', ...more } },
  { event: 'tool.called', data: { call_id: 'c1', tool: 'lookup', input: 'PRIVATE', ...more } },
  { event: 'tool.result', data: { call_id: 'c1', tool: 'lookup', ok: true, output: 'PRIVATE', ...more } },
  { event: 'tool.result', data: { call_id: 'c2', tool: 'lookup', ok: false, error: 'PRIVATE', ...more } },
  { event: 'progress', data: { text: 'on it', ...more } },
  { event: 'progress', data: { text: 'Missing knowledge: PRIVATE?' } },
  { output: { reply: 'done' } },
]

const textFile = (name: string, content: string) => ({
  artifact: { name, content_type: 'text/plain', content_base64: Buffer.from(content).toString('base64') },
})

const FILE_LINES = [
  textFile('client/quote.txt', 'quote'),
  textFile('margins.txt', 'PRIVATE'),
  textFile('clients.txt', 'PRIVATE'),
  { output: { reply: 'done' } },
]
