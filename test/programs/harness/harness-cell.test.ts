import { afterEach, expect, test } from 'vitest'
import { openTestCell } from './in-process-cell.ts'
import { testBrief, type FakePlane, scriptedModel, modelStream, startFakePlane } from './fake-plane.ts'

let plane: FakePlane | undefined
afterEach(async () => {
  plane?.close()
  plane = undefined
})

test('a harness cell writes a ready line', async () => {
  plane = startFakePlane(() => ({}))
  expect(await openTestCell(plane).seen(() => true)).toEqual({ ready: true })
})

test('many runs share a cell: each gets its own answer, and a failing run does not affect others', async () => {
  plane = startFakePlane((seen) => {
    const text = JSON.stringify(seen.body)
    const order = Number(/\\"order\\": ?(\d+)/.exec(text)?.[1])
    if (order % 5 === 0) return { chunks: ['data: {"bro'], cut: true }
    if (order % 7 === 0) return { status: 500, json: { error: `no ${order}` } }
    const whole = modelStream('anthropic', { text: `answer ${order} for ${String(seen.headers.authorization)}` })
    return { chunks: [whole.slice(0, 200), whole.slice(200, 300), whole.slice(300)] }
  })
  const cell = openTestCell(plane)
  const orders = Array.from({ length: 60 }, (_, n) => n + 1)
  for (const order of orders) {
    const one = testBrief({ shape: 'decide' })
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

test('an invalid brief ends only its own run', async () => {
  plane = startFakePlane(scriptedModel([{ text: 'fine' }]))
  const cell = openTestCell(plane)
  cell.start('odd', { ...testBrief(), shape: 'dance' as never })
  cell.start('worse', { ...testBrief(), skills: null as never })
  cell.start('worst', { ...testBrief(), tools: null as never })
  cell.start('r1', testBrief({ shape: 'decide' }))
  expect((await cell.linesOf('odd')).at(-1)?.error).toBe("field 'shape' of the brief must be agent, decide or workflow")
  expect((await cell.linesOf('worse')).at(-1)?.error).toMatch(/^agent failed: /)
  expect((await cell.linesOf('worst')).at(-1)?.error).toMatch(/^agent failed: /)
  expect((await cell.linesOf('r1')).at(-1)?.output).toBe('fine')
})

test('unknown input lines are ignored and reported', async () => {
  plane = startFakePlane(scriptedModel([{ text: 'fine' }]))
  const cell = openTestCell(plane)
  for (const line of ['', 'hello', '[]', '{"run":1}', '{"run":"x","start":{}}', '{"run":"x"}']) cell.say(line)
  cell.start('r1', testBrief({ shape: 'decide' }))
  expect((await cell.linesOf('r1')).at(-1)?.output).toBe('fine')
  expect(cell.log()).toContain('neither a start, an abort nor an answer')
})

test.each(['model', 'answer', 'action', 'command'])(
  'an abort ends only its run, while the run waits for its %s',
  async (what) => {
    const waits = [
      {
        name: what === 'command' ? 'run_command' : 'act',
        input: { command: 'sleep 60', capability: 'x', payload: {} },
      },
    ]
    plane = startFakePlane((seen) => {
      if (seen.path.includes('actions')) return { hang: true }
      if (JSON.stringify(seen.body.messages).includes('quick'))
        return { chunks: [modelStream('anthropic', { text: 'fine' })] }
      if (what === 'answer') return { chunks: [modelStream('anthropic', { text: 'so far' }).slice(0, 400)], hang: true }
      return what === 'model' ? { hang: true } : { chunks: [modelStream('anthropic', { calls: waits })] }
    })
    const cell = openTestCell(plane)
    cell.start('slow', testBrief({ tools: ['act', 'run_command'] }))
    if (what === 'answer') await cell.seen((line) => line.event === 'token.delta')
    else if (what !== 'model') await cell.seen((line) => line.event === 'tool.called')
    const quick = testBrief({ shape: 'decide' })
    quick.task.input = 'quick'
    cell.start('quick', quick)
    await cell.linesOf('quick')
    cell.abort('slow')
    expect((await cell.linesOf('slow')).at(-1)).toEqual({ run: 'slow', error: 'aborted' })
    expect((await cell.linesOf('quick')).at(-1)?.output).toBe('fine')
  },
)

test('the events of a run are written before its next request', async () => {
  const before: unknown[] = []
  plane = startFakePlane(() => {
    before.push(cell.said().at(-1)?.event)
    return { chunks: [modelStream('anthropic', { text: 'fine' })] }
  })
  const cell = openTestCell(plane)
  cell.start('r1', testBrief({ shape: 'decide' }))
  await cell.linesOf('r1')
  expect(before).toEqual(['step.started'])
})

test('an answer without a pending request is ignored', async () => {
  plane = startFakePlane(() => ({ chunks: [modelStream('anthropic', { text: 'fine' })] }))
  const cell = openTestCell(plane)
  for (const run of ['r1', 'gone']) {
    for (const answer of [1, 7, 'x']) cell.say(JSON.stringify({ run, answer, status: 200, body: null }))
  }
  cell.start('r1', testBrief({ shape: 'decide' }))
  cell.say(JSON.stringify({ run: 'r1', answer: 7, piece: 'data: {}\n\n' }))
  expect((await cell.linesOf('r1')).at(-1)?.output).toBe('fine')
  expect(cell.log()).toBe('')
})

test('runs are aborted when the service closes the input', async () => {
  plane = startFakePlane(() => ({ hang: true }))
  const cell = openTestCell(plane)
  cell.start('r1', testBrief({ shape: 'decide' }))
  await cell.seen((line) => line.event === 'step.started')
  cell.end()
  expect((await cell.linesOf('r1')).at(-1)?.error).toBe('aborted')
})
