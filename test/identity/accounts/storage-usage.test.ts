import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { ECHO_WEDGE, anyStore, eachStore, type TestApp, testApp } from '../../app.ts'
import { advanceUntilSettled } from '../../approvals/decisions/gated-app.ts'
import { runScript, scriptedAgentFolder, startScript, waitForEvent } from '../../execution/runs/scripted-agent.ts'
import { pruneOldLogs } from '../../../src/automation/retention/prune-logs.ts'
import { scrapeMetrics } from '../../insight/telemetry/scrape-metrics.ts'
import { countByStatus } from './members.ts'

const agents = scriptedAgentFolder()
const env = { SVC_TASK_RATE_PER_MIN: '10000', SVC_METRICS_PORT: '0', ...agents }

const projectOf = async (app: TestApp) => {
  const { id } = (await app.call('GET', '/v1/projects')).body.data[0]
  return (await app.call('GET', `/v1/projects/${id}`)).body
}

/** The size of the rows that count. */
async function sizeOfRows(app: TestApp): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce((select sum(octet_length(value)) from records), 0)
      + coalesce((select sum(octet_length(data)) from events join tasks on tasks.id = task_id where finished_at is not null), 0)
      + coalesce((select sum(octet_length(content)) from artifact_files), 0) as bytes`.execute(app.ctx.db)
  return Number(rows[0]?.bytes)
}

const putRecord = (app: TestApp, key: string, value: unknown) =>
  app.call('POST', '/v1/records', { wedge: 'echo', collection: 'c', key, value })

const WORK = `
  say({ event: 'progress', data: { text: 'ä'.repeat(500) } })
  say({ artifact: { name: 'note.txt', content_type: 'text/plain', content_base64: 'aGVsbG8=' } })
  await Promise.all([1, 2, 3].map((n) => ask('POST', '/v1/internal/records/c/shared' + n, { value: 'ö'.repeat(100 * n) })))
  await ask('DELETE', '/v1/internal/records/c/shared1')
  say({ output: 'done' })`

anyStore((store) => {
  test('the stored bytes of a project are the size of its records and of the logs and files of its finished tasks', async () => {
    const app = await testApp({ store, wedges: ECHO_WEDGE, env })
    const hanging = await startScript(
      app,
      `say({ event: 'progress', data: { text: 'on' } }); setInterval(() => {}, 1e6)`,
    )
    await waitForEvent(app, hanging, 'progress')
    const runs = Array.from({ length: 6 }, () => runScript(app, WORK))
    const writes = Array.from({ length: 40 }, (_, n) => putRecord(app, `k${n % 4}`, 'x'.repeat(n * 7)))
    const [{ task }] = await Promise.all([runs[0] ?? runScript(app, WORK), ...runs, ...writes])
    await app.call('POST', `/v1/tasks/${task.id}/feedback`, { rating: 5, note: 'schön' })
    expect((await projectOf(app)).stored_bytes).toBe(await sizeOfRows(app))
    await app.call('POST', `/v1/tasks/${hanging}/cancel`)
    await app.finished(hanging)
    const stored = await sizeOfRows(app)
    expect((await projectOf(app)).stored_bytes).toBe(stored)
    expect((await scrapeMetrics(app)).value('svc_stored_bytes')).toBe(stored)

    const records = (await app.call('GET', '/v1/records?limit=200')).body.data
    await Promise.all(records.map(({ id }: { id: string }) => app.call('DELETE', `/v1/records/${id}`)))
    await app.clock.advance(1_000)
    await advanceUntilSettled(app, pruneOldLogs(app.ctx, 0))
    const left = await sizeOfRows(app)
    expect(left).toBeLessThan(stored / 5)
    expect((await projectOf(app)).stored_bytes).toBe(left)
  })

  test('a long log is counted before its task ends, and once', async () => {
    const app = await testApp({ store, wedges: ECHO_WEDGE, env })
    const script = `for (let n = 0; n < 10_500; n++) say({ event: 'progress', data: { text: 'line ' + n } })
      setInterval(() => {}, 1e6)`
    const id = await startScript(app, script)
    await app.events(id, { until: ({ data }) => data.data.text === 'line 10499' })
    const [task] = await app.ctx.db.selectFrom('tasks').select('counted_events').where('id', '=', id).execute()
    expect(task?.counted_events).toBeGreaterThan(10_000)
    const counted = sql<number>`octet_length(data)`
    const { bytes } = await app.ctx.db
      .selectFrom('events')
      .select((eb) => eb.fn.sum<number | string>(counted).as('bytes'))
      .where('seq', '<=', task?.counted_events ?? 0)
      .executeTakeFirstOrThrow()
    expect((await projectOf(app)).stored_bytes).toBe(Number(bytes))
    await app.call('POST', `/v1/tasks/${id}/cancel`)
    await app.finished(id)
    expect((await projectOf(app)).stored_bytes).toBe(await sizeOfRows(app))
  })

  test('a run that stores more than its limit gets 429 for records, and its events end it', async () => {
    const app = await testApp({ store, wedges: ECHO_WEDGE, env: { ...env, SVC_MAX_RUN_MB: '1' } })
    const sentence = 'the run stored more than 1 MB of records, events and files (SVC_MAX_RUN_MB)'
    const { task } = await runScript(
      app,
      `const value = 'x'.repeat(400_000)
       const puts = []
       for (const n of [1, 2, 3]) puts.push(await ask('POST', '/v1/internal/records/c/k' + n, { value }))
       const { status, body } = puts[2]
       say({ artifact: { name: 'f.txt', content_type: 'text/plain', content_base64: 'x'.repeat(400_000) } })
       say({ output: { statuses: puts.map(({ status }) => status), error: body.error } })`,
    )
    expect(task.output).toEqual({ statuses: [201, 201, 429], error: sentence })
    expect(task.artifacts.map(({ name }: { name: string }) => name)).toEqual(['output.json'])
    const ended = await runScript(
      app,
      `for (let n = 0; n < 40; n++) say({ event: 'progress', data: { text: 'x'.repeat(50_000) } })
       say({ output: 1 })`,
    )
    expect(ended.task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed', message: sentence } })
    // The next run has its own limit.
    expect((await runScript(app, `say({ output: 1 })`)).task.status).toBe('succeeded')
  })
})

eachStore((store) => {
  test('concurrent writes never exceed the limit of a project, and a full project creates no tasks until bytes are deleted', async () => {
    const app = await testApp({ store, wedges: ECHO_WEDGE, env: { ...env, SVC_MAX_PROJECT_MB: '1' } })
    const max = 1024 * 1024
    // Three values of this size are one byte less than the limit.
    const value = 'x'.repeat(349_523)
    const responses = await Promise.all(Array.from({ length: 12 }, (_, n) => putRecord(app, `k${n}`, value)))
    expect(countByStatus(responses)).toEqual({ 201: 3, 429: 9 })
    const refusal = responses.find(({ status }) => status === 429)
    const sentence = /^the project stores more than 1 MB of records, events and files \(SVC_MAX_PROJECT_MB\): delete/
    expect(refusal?.body.error).toMatch(sentence)
    expect(await projectOf(app)).toMatchObject({ stored_bytes: max - 1, max_stored_bytes: max })
    expect((await app.call('GET', '/v1/records?limit=200')).body.data).toHaveLength(3)
    expect((await putRecord(app, 'last', 1)).status).toBe(201)
    await app.clock.advance(5_000)
    const create = () => app.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say', input: { js: '' } })
    await expect.poll(create).toMatchObject({ status: 429, body: { error: expect.stringMatching(sentence) } })
    expect((await scrapeMetrics(app)).value('svc_projects_storage_full')).toBe(1)

    const stored = responses.find(({ status }) => status === 201)?.body
    expect((await putRecord(app, stored.key, 'smaller')).status).toBe(200)
    await app.clock.advance(5_000)
    await expect.poll(async () => (await create()).status).toBe(201)
  })
})
