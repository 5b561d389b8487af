import { afterEach, expect, test } from 'vitest'
import { dataOf, openCell, runOnce } from './in-process.ts'
import { brief, type Plane, playing, sse, startPlane } from './plane.ts'

let plane: Plane | undefined
afterEach(async () => {
  await plane?.close()
  plane = undefined
})

test('a cell says that it is ready', async () => {
  plane = await startPlane(() => ({}))
  expect(await openCell(plane.folder).seen(() => true)).toEqual({ ready: true })
})

test('many runs share a cell; each gets its own answer, and a failing one harms no other', async () => {
  plane = await startPlane((seen) => {
    const text = JSON.stringify(seen.body)
    const order = Number(/\\"order\\": ?(\d+)/.exec(text)?.[1])
    if (order % 5 === 0) return { chunks: ['data: {"bro'], cut: true }
    if (order % 7 === 0) return { status: 500, json: { error: `no ${order}` } }
    const whole = sse('anthropic', { text: `answer ${order} for ${String(seen.headers.authorization)}` })
    return { chunks: [whole.slice(0, 200), whole.slice(200, 300), whole.slice(300)] }
  })
  const cell = openCell(plane.folder)
  const orders = Array.from({ length: 60 }, (_, n) => n + 1)
  for (const order of orders) {
    const one = brief(plane, { shape: 'decide' })
    one.task.input = { order }
    one.service.task_token = `t${order}`
    cell.start(`r${order}`, one)
  }
  const all = await Promise.all(orders.map((order) => cell.linesOf(`r${order}`)))
  for (const [at, lines] of all.entries()) {
    const order = at + 1
    const last = lines.at(-1)
    if (order % 5 === 0) expect(last?.error).toMatch(/^model failed: /)
    else if (order % 7 === 0) expect(last?.error).toBe(`model failed: no ${order}`)
    else expect(last?.output).toBe(`answer ${order} for Bearer t${order}`)
    expect(lines.filter((line) => 'output' in line || 'error' in line)).toHaveLength(1)
  }
})

test('a brief that makes no sense ends only its own run', async () => {
  plane = await startPlane(playing([{ text: 'fine' }]))
  const cell = openCell(plane.folder)
  cell.start('odd', { ...brief(plane), shape: 'dance' as never })
  cell.start('worse', { ...brief(plane), skills: null as never })
  cell.start('worst', { ...brief(plane), tools: null as never })
  cell.start('r1', brief(plane, { shape: 'decide' }))
  expect((await cell.linesOf('odd')).at(-1)?.error).toBe('the brief names no known shape')
  expect((await cell.linesOf('worse')).at(-1)?.error).toMatch(/^agent failed: /)
  expect((await cell.linesOf('worst')).at(-1)?.error).toMatch(/^agent failed: /)
  expect((await cell.linesOf('r1')).at(-1)?.output).toBe('fine')
})

test('lines that are no orders are left out and reported', async () => {
  plane = await startPlane(playing([{ text: 'fine' }]))
  const cell = openCell(plane.folder)
  for (const line of ['', 'hello', '[]', '{"run":1}', '{"run":"x","start":{}}', '{"run":"x"}']) cell.say(line)
  cell.start('r1', brief(plane, { shape: 'decide' }))
  expect((await cell.linesOf('r1')).at(-1)?.output).toBe('fine')
  expect(cell.log()).toContain('neither a start nor an abort')
})

test.each(['model', 'answer', 'action', 'command'])(
  'an abort ends a run that waits for its %s, and no other',
  async (what) => {
    const waits = [
      {
        name: what === 'command' ? 'run_command' : 'act',
        input: { command: 'sleep 60', capability: 'x', payload: {} },
      },
    ]
    plane = await startPlane((seen) => {
      if (seen.path.includes('actions')) return { hang: true }
      if (JSON.stringify(seen.body.messages).includes('quick')) return { chunks: [sse('anthropic', { text: 'fine' })] }
      if (what === 'answer') return { chunks: [sse('anthropic', { text: 'so far' }).slice(0, 400)], hang: true }
      return what === 'model' ? { hang: true } : { chunks: [sse('anthropic', { calls: waits })] }
    })
    const cell = openCell(plane.folder)
    cell.start('slow', brief(plane, { tools: ['act', 'run_command'] }))
    if (what === 'answer') await cell.seen((line) => line.event === 'token.delta')
    else if (what !== 'model') await cell.seen((line) => line.event === 'tool.called')
    const quick = brief(plane, { shape: 'decide' })
    quick.task.input = 'quick'
    cell.start('quick', quick)
    await cell.linesOf('quick')
    cell.abort('slow')
    expect((await cell.linesOf('slow')).at(-1)).toEqual({ run: 'slow', error: 'aborted' })
    expect((await cell.linesOf('quick')).at(-1)?.output).toBe('fine')
  },
)

test('without a socket the service is reached at its address', async () => {
  plane = await startPlane(playing([{ text: 'fine' }]), 'port')
  const one = brief(plane, { shape: 'decide' })
  one.service = { ...one.service, socket: null, base_url: plane.base_url }
  expect((await runOnce(plane.folder, one)).at(-1)?.output).toBe('fine')
})

test('a service that cannot be reached fails the run', async () => {
  plane = await startPlane(() => ({}))
  const one = brief(plane, { shape: 'decide' })
  one.service.socket = `${plane.folder}/nothing`
  expect((await runOnce(plane.folder, one)).at(-1)?.error).toMatch(/^model failed: connect ENOENT/)
})

test('runs that follow each other use one connection', async () => {
  plane = await startPlane(() => ({ chunks: [sse('anthropic', { text: 'fine' })] }))
  const cell = openCell(plane.folder)
  for (const run of ['a', 'b', 'c']) {
    cell.start(run, brief(plane, { shape: 'decide' }))
    expect(dataOf(await cell.linesOf(run), 'token.delta')).toEqual([{ text: 'fine' }])
  }
  expect(plane.connections()).toBe(1)
})

test('a kept connection that the service has closed is replaced for what may be repeated', async () => {
  plane = await startPlane(() => ({ chunks: [sse('anthropic', { text: 'fine' })] }))
  const cell = openCell(plane.folder)
  cell.start('a', brief(plane, { shape: 'decide' }))
  await cell.linesOf('a')
  plane.resetNext()
  cell.start('b', brief(plane, { shape: 'decide' }))
  expect((await cell.linesOf('b')).at(-1)?.output).toBe('fine')
})
