import { describe, expect, test } from 'vitest'
import {
  AgentWorkClient,
  BadRequestError,
  ConflictError,
  type Event,
  ForbiddenError,
  NotFoundError,
  ServiceError,
  TaskNotSucceededError,
  TooManyRequestsError,
  UnauthorizedError,
  UnavailableError,
  UnreachableError,
} from '../../clients/typescript/src/client.ts'
import { ECHO_WEDGE, FOUNDER_KEY, anyStore } from '../app.ts'
import { gatedWedgeFiles, sharedGatedApp, startAction } from '../approvals/decisions/gated-app.ts'
import { openFaultyProxy } from './faulty-proxy.ts'

interface Say {
  wedge: 'echo'
  task_type: 'say'
  input: { text: string }
  output: { said: { text: string } }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

anyStore((store) => {
  describe('the TypeScript client', () => {
    const shared = sharedGatedApp(store, { wedges: { ...ECHO_WEDGE, ...gatedWedgeFiles('gate') } })
    const createClient = (options: { url?: string; key?: string; retryForMs?: number } = {}) => {
      const waits: number[] = []
      const wait = async (ms: number) => void waits.push(ms)
      const client = new AgentWorkClient({ url: shared().url, key: FOUNDER_KEY, wait, ...options })
      return { client, waits }
    }

    test('run returns the task at its end with a typed output, and shows every event', async () => {
      const { client } = createClient()
      const events: Event[] = []
      const task = await client.run<Say>(
        { wedge: 'echo', task_type: 'say', input: { text: 'hi' } },
        { onEvent: (event) => events.push(event) },
      )
      expect(task.output.said.text).toBe('hi')
      expect(events).toEqual((await shared().events(task.id)).map(({ data }) => data))
    })

    test('run throws an error with the task if the task was rejected', async () => {
      const { client } = createClient()
      const input = { connection: 'crm', action: 'send_note', payload: { text: 'hello' } }
      const rejecting = client.run(
        { wedge: 'gate', task_type: 'act', input },
        {
          onEvent: (event) => {
            if (event.type === 'approval.requested') void client.call('rejectApproval', { id: event.data.approval_id })
          },
        },
      )
      const error = await rejecting.then(
        () => null,
        (reason: unknown) => reason,
      )
      expect(error).toBeInstanceOf(TaskNotSucceededError)
      expect(error).toMatchObject({
        task: { status: 'rejected' },
        message: expect.stringContaining('ended as rejected'),
      })
    })

    test('follow returns each event once and in order while every stream is cut after one event', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client } = createClient({ url: proxy.url })
      const { id } = await startAction(shared())
      const events: Event[] = []
      for await (const event of client.follow(id)) {
        events.push(event)
        if (event.type === 'approval.requested') await client.call('approveApproval', { id: event.data.approval_id })
      }
      expect(events).toEqual((await shared().events(id)).map(({ data }) => data))
      const streams = proxy.received.filter(({ path }) => path.endsWith('/events'))
      expect(streams.map(({ headers }) => Number(headers['last-event-id']))).toEqual(events.map((_, index) => index))
    })

    test('follow waits as retry-after says when a stream is refused', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client, waits } = createClient({ url: proxy.url })
      const { id } = await createClient().client.run({ wedge: 'echo', task_type: 'say' })
      const following = client.follow(id)
      const first = await following.next()
      proxy.refusals.push({ status: 429, headers: { 'retry-after': '7' } }, { status: 503 })
      expect([first.value, ...(await collect(following))]).toEqual((await shared().events(id)).map(({ data }) => data))
      expect(waits).toEqual([7000, 1000])
    })

    test('follow throws an error if a proxy responds with a page in place of the events', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client, waits } = createClient({ url: proxy.url })
      proxy.refusals.push({ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Log in</h1>' })
      const error = await collect(client.follow('task_1')).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(ServiceError)
      const message = `the response is not an event stream: is ${proxy.url} the address of the service?`
      expect(error).toMatchObject({ message, status: 200, body: '<h1>Log in</h1>' })
      expect(waits).toEqual([])
    })

    test('follow begins after a given event, and ends at once if there is none', async () => {
      const { client } = createClient()
      const { id } = await client.run({ wedge: 'echo', task_type: 'say' })
      const all = await collect(client.follow(id))
      expect(await collect(client.follow(id, { after: 2 }))).toEqual(all.slice(2))
      expect(await collect(client.follow(id, { after: all.length }))).toEqual([])
      await expect(collect(client.follow('task_none'))).rejects.toBeInstanceOf(NotFoundError)
    })

    test('follow ends with the reason of an aborted signal', async () => {
      const { client } = createClient()
      const { id } = await startAction(shared())
      const abort = new AbortController()
      const following = (async () => {
        for await (const event of client.follow(id, { signal: abort.signal }))
          if (event.type === 'approval.requested') abort.abort(new Error('enough'))
      })()
      await expect(following).rejects.toThrow('enough')
      await client.call('cancelTask', { id })
    })

    test('a create is repeated as retry-after says, and a lost response creates no second task', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client, waits } = createClient({ url: proxy.url })
      proxy.refusals.push({ status: 429, headers: { 'retry-after': '7' } })
      proxy.refusals.push({ status: 503, headers: { 'retry-after': '2' } })
      proxy.lostResponses = 1
      const task = await client.createTask({ wedge: 'echo', task_type: 'say', input: store })
      expect(waits.slice(0, 2)).toEqual([7000, 2000])
      expect(waits).toHaveLength(3)
      expect(new Set(proxy.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
      const same = await collect(client.list('listTasks', { wedge: 'echo' }))
      expect(same.filter(({ input }) => input === store).map(({ id }) => id)).toEqual([task.id])
    })

    test('a write without an idempotency key is repeated after 429 only', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client, waits } = createClient({ url: proxy.url })
      const save = () =>
        client.call('saveRecord', { body: { wedge: 'echo', collection: 'once', key: 'a', value: { n: 1 } } })
      proxy.refusals.push({ status: 429, headers: { 'retry-after': '3' } })
      expect(await save()).toMatchObject({ key: 'a' })
      proxy.refusals.push({ status: 503, headers: { 'retry-after': '1', 'x-request-id': 'req_1' } })
      await expect(save()).rejects.toMatchObject({ status: 503, retryAfterS: 1, requestId: 'req_1' })
      proxy.lostResponses = 1
      await expect(save()).rejects.toBeInstanceOf(UnreachableError)
      expect(waits).toEqual([3000])
    })

    test('a read is repeated with growing pauses until the time for retries is over', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client, waits } = createClient({ url: proxy.url, retryForMs: 4000 })
      proxy.refusals.push(...Array.from({ length: 4 }, () => ({ status: 502, body: '<h1>bad gateway</h1>' })))
      const error = await client.call('getMeta').catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(UnavailableError)
      expect(error).toMatchObject({ message: 'the service returned status 502', body: '<h1>bad gateway</h1>' })
      expect(waits).toEqual([500, 1000, 2000])
      proxy.refusals.push({ status: 429, headers: { 'retry-after': '9' } })
      await expect(client.call('getMeta')).rejects.toBeInstanceOf(TooManyRequestsError)
      expect(waits).toHaveLength(3)
    })

    test('a retry-after of 0 shortens no pause, so that the time for retries ends', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client, waits } = createClient({ url: proxy.url, retryForMs: 4000 })
      proxy.refusals.push(...Array.from({ length: 10 }, () => ({ status: 503, headers: { 'retry-after': '0' } })))
      await expect(client.call('getMeta')).rejects.toBeInstanceOf(UnavailableError)
      expect(waits).toEqual([500, 1000, 2000])
    })

    test('each refusal has its own error class with the sentence of the service', async () => {
      const { client } = createClient()
      const refused = async (work: Promise<unknown>) => work.catch((reason: unknown) => reason)
      const badRequest = await refused(client.createTask({ wedge: 'none', task_type: 'say' }))
      expect(badRequest).toBeInstanceOf(BadRequestError)
      expect(badRequest).toMatchObject({ name: 'BadRequestError', message: expect.stringContaining('none') })
      expect(await refused(client.call('getTask', { id: 'task_none' }))).toBeInstanceOf(NotFoundError)
      const { id } = await client.run({ wedge: 'echo', task_type: 'say' })
      expect(await refused(client.call('cancelTask', { id }))).toBeInstanceOf(ConflictError)
      const wrongKey = createClient({ key: 'svc_key_wrong' }).client
      expect(await refused(wrongKey.call('getMeta'))).toBeInstanceOf(UnauthorizedError)
      const { key } = await client.call('createKey', { body: { name: 'reader', role: 'viewer' } })
      const reader = createClient({ key }).client
      const forbidden = await refused(reader.createTask({ wedge: 'echo', task_type: 'say' }))
      expect(forbidden).toBeInstanceOf(ForbiddenError)
      expect(forbidden).toBeInstanceOf(ServiceError)
      const nowhere = createClient({ url: 'http://127.0.0.1:1', retryForMs: 0 }).client
      expect(await refused(nowhere.call('getMeta'))).toBeInstanceOf(UnreachableError)
    })

    test('list reads 201 rows, each once, with as many requests as there are pages', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client } = createClient({ url: proxy.url })
      const keys = Array.from({ length: 201 }, (_, index) => `k${String(index).padStart(3, '0')}`)
      const save = (key: string) =>
        client.call('saveRecord', { body: { wedge: 'echo', collection: 'many', key, value: { key } } })
      for (let i = 0; i < keys.length; i += 20) await Promise.all(keys.slice(i, i + 20).map(save))
      proxy.received.length = 0
      const rows = await collect(client.list('listRecords', { wedge: 'echo', collection: 'many' }))
      expect(rows.map(({ key }) => key).toSorted()).toEqual(keys)
      expect(proxy.received).toHaveLength(2)
      const small = client.list('listRecords', { wedge: 'echo', collection: 'many', limit: 2 })
      await small.next()
      await small.return()
      expect(proxy.received).toHaveLength(3)
    })

    test('a response that is lost in its middle is repeated for reads, and is an UnreachableError for writes', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client, waits } = createClient({ url: proxy.url })
      proxy.halfResponses = 1
      expect(await client.call('getMeta')).toEqual(await createClient().client.call('getMeta'))
      expect(waits).toEqual([500])
      proxy.halfResponses = 1
      const save = client.call('saveRecord', { body: { wedge: 'echo', collection: 'half', key: 'a', value: {} } })
      await expect(save).rejects.toBeInstanceOf(UnreachableError)
    })

    test('a proxy that redirects, sends a page or a date as retry-after is understood', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client, waits } = createClient({ url: proxy.url })
      proxy.refusals.push({ status: 301, headers: { location: 'https://work.example.com/' }, body: '' })
      const redirected = client.createTask({ wedge: 'echo', task_type: 'say' })
      await expect(redirected).rejects.toThrow('redirects to https://work.example.com/: use its final address')
      proxy.refusals.push({ status: 200, body: '<h1>Welcome</h1>' })
      const page = await client.call('getMeta').catch((reason: unknown) => reason)
      expect(page).toMatchObject({ message: expect.stringContaining('is not JSON'), body: '<h1>Welcome</h1>' })
      proxy.refusals.push({ status: 503, headers: { 'retry-after': new Date(Date.now() - 5000).toUTCString() } })
      await client.call('getMeta')
      expect(waits).toEqual([500])
    })

    test('mistakes of the caller are errors before anything is sent', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { client } = createClient({ url: proxy.url, key: `${FOUNDER_KEY}\n` })
      for (const id of ['', '.', '..', undefined as unknown as string]) {
        await expect(client.call('getTask', { id })).rejects.toThrow("parameter 'id' must be a text")
        await expect(collect(client.follow(id))).rejects.toThrow("parameter 'taskId' must be a text")
      }
      const unknown = 'listTask' as unknown as 'listTasks'
      await expect(client.call(unknown)).rejects.toThrow("unknown operation 'listTask'")
      const idempotencyKey = 'a\nb'
      await expect(client.createTask({ wedge: 'echo', task_type: 'say' }, { idempotencyKey })).rejects.toThrow(
        TypeError,
      )
      expect(proxy.received).toEqual([])
      expect(await client.call('getMeta')).toBeTypeOf('object')
      const { url } = proxy
      for (const key of [undefined, '', ' ']) expect(() => new AgentWorkClient({ url, key })).toThrow("option 'key'")
      for (const wrong of ['', 'localhost:8787', 'ftp://a'])
        expect(() => new AgentWorkClient({ url: wrong, key: 'a' })).toThrow("option 'url'")
    })

    test('files and artifacts keep their bytes', async () => {
      const { client } = createClient()
      const bytes = Uint8Array.from([0, 255, 10, 13])
      const file = await client.uploadFile('a b.bin', bytes)
      expect(file).toMatchObject({ name: 'a b.bin', size: 4 })
      expect(new Uint8Array(await (await client.download(file.id)).arrayBuffer())).toEqual(bytes)
      const { artifacts } = await client.run<Say>({ wedge: 'echo', task_type: 'say', input: { text: 'hi' } })
      const output = await (await client.download(artifacts[0]?.id ?? '')).json()
      expect(output).toEqual({ said: { text: 'hi' } })
      expect(await client.call('deleteFile', { id: file.id })).toBeUndefined()
    })
  })
})
