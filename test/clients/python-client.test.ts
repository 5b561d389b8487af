import { describe, expect, test } from 'vitest'
import { ECHO_WEDGE, FOUNDER_KEY, anyStore } from '../app.ts'
import { gatedWedgeFiles, sharedGatedApp, startAction } from '../approvals/decisions/gated-app.ts'
import { openFaultyProxy } from './faulty-proxy.ts'
import { runPython } from './run-python.ts'

const CLIENT = `
waits = []
service = AgentWorkClient(given["url"], given["key"], wait=waits.append, retry_for_s=given.get("retry_for_s", 60))
`

anyStore((store) => {
  describe('the Python client', () => {
    const shared = sharedGatedApp(store, { wedges: { ...ECHO_WEDGE, ...gatedWedgeFiles('gate') } })
    const run = (code: string, given: Record<string, unknown> = {}) =>
      runPython(`${CLIENT}\nwith service:\n${code.replaceAll(/^/gm, '  ')}`, {
        url: shared().url,
        key: FOUNDER_KEY,
        ...given,
      })

    test('run returns the task at its end, shows every event, and raises an error with a rejected task', async () => {
      const { lines } = await run(
        `
events = []
task = service.run("echo", "say", {"text": "hi"}, on_event=events.append)
show([task, events])
def reject(event):
  if event["type"] == "approval.requested":
    service.call("rejectApproval", id=event["data"]["approval_id"])
try:
  service.run("gate", "act", given["input"], on_event=reject)
except TaskNotSucceededError as error:
  show([error.task["status"], str(error)])
`,
        { input: { connection: 'crm', action: 'send_note', payload: { text: 'hello' } } },
      )
      const [[task, events], rejected] = lines
      expect(task).toMatchObject({ status: 'succeeded', output: { said: { text: 'hi' } } })
      expect(events).toEqual((await shared().events(task.id)).map(({ data }) => data))
      expect(rejected).toEqual(['rejected', expect.stringContaining('ended as rejected')])
    })

    test('follow returns each event once and in order while every stream is cut after one event', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { id } = await startAction(shared())
      proxy.refusals.push({ status: 429, headers: { 'retry-after': '7' } })
      const { lines } = await run(
        `
for event in service.follow(given["id"]):
  show(event)
  if event["type"] == "approval.requested":
    service.call("approveApproval", id=event["data"]["approval_id"], body={})
show(waits)
show([event["id"] for event in service.follow(given["id"], after=2)])
show([event["id"] for event in service.follow(given["id"], after=event["id"])])
`,
        { id, url: proxy.url },
      )
      const events = (await shared().events(id)).map(({ data }) => data)
      expect(lines).toEqual([...events, [7], events.slice(2).map((event) => event.id), []])
      const streams = proxy.received.filter(({ path }) => path.endsWith('/events')).slice(1, events.length + 1)
      expect(streams.map(({ headers }) => Number(headers['last-event-id']))).toEqual(events.map((_, index) => index))
    })

    test('follow raises an error if a proxy responds with a page in place of the events', async () => {
      const proxy = await openFaultyProxy(shared().url)
      proxy.refusals.push({ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Log in</h1>' })
      const code = `
try:
  next(service.follow("task_1"))
except ServiceError as error:
  show([str(error), error.status, error.body, waits])
`
      const message = `the response is not an event stream: is ${proxy.url}/ the address of the service?`
      expect((await run(code, { url: proxy.url })).lines).toEqual([[message, 200, '<h1>Log in</h1>', []]])
    })

    test('a create is repeated as retry-after says, and a lost response creates no second task', async () => {
      const proxy = await openFaultyProxy(shared().url)
      proxy.refusals.push({ status: 429, headers: { 'retry-after': '7' } })
      proxy.refusals.push({ status: 503, headers: { 'retry-after': '2' } })
      proxy.lostResponses = 1
      const { lines } = await run(
        `
task = service.create_task("echo", "say", "once")
show([waits, [one["id"] == task["id"] for one in service.list("listTasks", wedge="echo") if one["input"] == "once"]])
`,
        { url: proxy.url },
      )
      expect(lines).toEqual([[[7, 2, 2], [true]]])
      const keys = proxy.received.flatMap(({ method, headers }) =>
        method === 'POST' ? headers['idempotency-key'] : [],
      )
      expect(keys).toHaveLength(4)
      expect(new Set(keys).size).toBe(1)
    })

    test('a write without an idempotency key is repeated after 429 only, and a read until its time is over', async () => {
      const proxy = await openFaultyProxy(shared().url)
      proxy.refusals.push({ status: 429, headers: { 'retry-after': '3' } })
      proxy.refusals.push({ status: 503, headers: { 'retry-after': '1', 'x-request-id': 'req_1' } })
      proxy.refusals.push(...Array.from({ length: 4 }, () => ({ status: 502, body: '<h1>bad gateway</h1>' })))
      const { lines, error } = await run(
        `
try:
  service.call("cancelTask", id="task_none")
except UnavailableError as error:
  show([waits, error.retry_after_s, error.request_id])
waits.clear()
try:
  service.call("getMeta")
except UnavailableError as error:
  show([waits, error.body])
service.call("cancelTask", id="task_none")
`,
        { url: proxy.url, retry_for_s: 4 },
      )
      expect(lines).toEqual([
        [[3], 1, 'req_1'],
        [[0.5, 1, 2], '<h1>bad gateway</h1>'],
      ])
      expect(error).toMatchObject({ name: 'NotFoundError' })
    })

    test('a retry-after of 0 shortens no pause, so that the time for retries ends', async () => {
      const proxy = await openFaultyProxy(shared().url)
      proxy.refusals.push(...Array.from({ length: 10 }, () => ({ status: 503, headers: { 'retry-after': '0' } })))
      const code = 'try:\n  service.call("getMeta")\nexcept UnavailableError:\n  show(waits)'
      expect((await run(code, { url: proxy.url, retry_for_s: 4 })).lines).toEqual([[0.5, 1, 2]])
    })

    test('each refusal has its own error class with the sentence of the service', async () => {
      const { lines } = await run(
        `
reader = service.call("createKey", body={"name": "reader", "role": "viewer"})["key"]
done = service.run("echo", "say")["id"]
def other(url=given["url"], key=given["key"]): return AgentWorkClient(url, key, retry_for_s=0)
for work in [
  lambda: service.create_task("none", "say"),
  lambda: other(key="svc_key_wrong").call("getMeta"),
  lambda: other(key=reader).create_task("echo", "say"),
  lambda: service.call("getTask", id="task_none"),
  lambda: service.call("cancelTask", id=done),
  lambda: other(url="http://127.0.0.1:1").call("getMeta"),
]:
  try:
    work()
  except (ServiceError, UnreachableError) as error:
    show([type(error).__name__, str(error)])
`,
      )
      expect(lines).toEqual([
        ['BadRequestError', expect.stringContaining('none')],
        ['UnauthorizedError', expect.any(String)],
        ['ForbiddenError', expect.stringContaining('viewer')],
        ['NotFoundError', 'no such task'],
        ['ConflictError', expect.any(String)],
        ['UnreachableError', expect.stringContaining('cannot reach http://127.0.0.1:1')],
      ])
    })

    test('a half response, a redirect, a page and a date as retry-after are understood', async () => {
      const proxy = await openFaultyProxy(shared().url)
      proxy.refusals.push({ status: 301, headers: { location: 'https://work.example.com/' }, body: '' })
      proxy.refusals.push({ status: 200, body: '<h1>Welcome</h1>' })
      proxy.refusals.push({ status: 503, headers: { 'retry-after': new Date(Date.now() - 5000).toUTCString() } })
      proxy.halfResponses = 1
      const { lines } = await run(
        `
for work in [lambda: service.create_task("echo", "say"), lambda: service.call("getMeta")]:
  try:
    work()
  except ServiceError as error:
    show([error.status, str(error)])
service.call("getMeta")
show(waits)
`,
        { url: proxy.url },
      )
      expect(lines).toEqual([
        [301, expect.stringContaining('redirects to https://work.example.com/: use its final address')],
        [200, expect.stringContaining(`is ${proxy.url}/ the address of the service?`)],
        [0.5, 1],
      ])
    })

    test('mistakes of the caller are errors before anything is sent', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const { lines } = await run(
        `
for work in [
  *[lambda id=id: service.call("getTask", id=id) for id in ["", ".", "..", None]],
  lambda: service.call("getTask"),
  lambda: next(service.follow("..")),
  lambda: service.call("listTask"),
  lambda: service.run("echo", "say", constrants={}),
  lambda: AgentWorkClient("localhost:8787", "a"),
  lambda: AgentWorkClient("http://localhost:8787", " "),
]:
  try:
    work()
  except ValueError as error:
    show(str(error))
`,
        { url: proxy.url, key: `${FOUNDER_KEY}\n` },
      )
      expect(lines).toEqual([
        ...Array.from({ length: 5 }, () => expect.stringContaining("parameter 'id' must be a text")),
        expect.stringContaining("parameter 'task_id' must be a text"),
        expect.stringContaining("unknown operation 'listTask'"),
        "unknown option 'constrants' (options: actor, constraints, tools, output_schema, files, client_id)",
        expect.stringContaining('url must be an address'),
        expect.stringContaining('key must be an API key'),
      ])
      expect(proxy.received).toEqual([])
    })

    test('list reads 201 rows, each once, and files keep their bytes', async () => {
      const proxy = await openFaultyProxy(shared().url)
      const keys = Array.from({ length: 201 }, (_, index) => `k${String(index).padStart(3, '0')}`)
      const save = (key: string) =>
        shared().call('POST', '/v1/records', { wedge: 'echo', collection: 'many', key, value: {} })
      for (let i = 0; i < keys.length; i += 20) {
        const saved = await Promise.all(keys.slice(i, i + 20).map(save))
        for (const { status } of saved) expect(status).toBe(201)
      }
      const { lines } = await run(
        `
show([record["key"] for record in service.list("listRecords", wedge="echo", collection="many")])
file = service.upload_file("a b.bin", bytes([0, 255, 10, 13]))
show([file["name"], list(service.download(file["id"])), service.call("deleteFile", id=file["id"])])
`,
        { url: proxy.url },
      )
      expect(lines[0].toSorted()).toEqual(keys)
      expect(proxy.received.filter(({ path }) => path.startsWith('/v1/records'))).toHaveLength(2)
      expect(lines[1]).toEqual(['a b.bin', [0, 255, 10, 13], null])
    })
  })
})

test('every field of a new task is an option', async () => {
  const code = 'show(sorted(CreateTaskRequest.__annotations__.keys() - TaskOptions.__annotations__.keys()))'
  expect((await runPython(code)).lines).toEqual([['input', 'task_type', 'wedge']])
})
