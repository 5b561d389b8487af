import { afterEach, describe, expect, test } from 'vitest'
import { eventData, runOneBrief } from './in-process-cell.ts'
import { testBrief, type ScriptedModelTurn, type FakePlane, scriptedModel, startFakePlane } from './fake-plane.ts'

let plane: FakePlane | undefined
afterEach(async () => {
  plane?.close()
  plane = undefined
})

const schema = { type: 'object', properties: { route: { type: 'string', enum: ['a', 'b'] } }, required: ['route'] }
const finish = (output: unknown): ScriptedModelTurn => ({ calls: [{ name: 'finish', input: { output } as never }] })

async function run(turns: ScriptedModelTurn[], more: Parameters<typeof testBrief>[0]) {
  plane = startFakePlane(scriptedModel(turns))
  const lines = await runOneBrief(plane, testBrief(more))
  return { lines, last: lines.at(-1), requests: plane.seen.map(({ body }) => body) }
}

describe('shape decide', () => {
  test('a decision makes one call without tools and streams no events of a structured answer', async () => {
    const { lines, requests } = await run([{ text: '{"route":"a"}' }], { shape: 'decide', output_schema: schema })
    expect(lines).toEqual([
      { run: 'r1', event: 'step.started', data: { step: 1, label: 'Decide' } },
      { run: 'r1', turn: { by: 'model', text: '{"route":"a"}', calls: [] } },
      { run: 'r1', output: { route: 'a' } },
    ])
    expect(requests).toHaveLength(1)
  })

  test.each(['```json\n{"route":"b"}\n```', 'It is {"route":"b"}, I think.', ' {"route":"b"}\n'])(
    'the output is read from %j',
    async (text) => {
      const { last } = await run([{ text }], { shape: 'decide', output_schema: schema })
      expect(last?.output).toEqual({ route: 'b' })
    },
  )

  test('the model gets the schema errors and the second answer is used', async () => {
    const turns = [{ text: '{"route":"z"}' }, { text: '{"route":"a"}' }]
    const { lines, last, requests } = await run(turns, { shape: 'decide', output_schema: schema })
    expect(last?.output).toEqual({ route: 'a' })
    expect(eventData(lines, 'step.started')).toEqual([
      { step: 1, label: 'Decide' },
      { step: 2, label: 'Repair' },
    ])
    expect(JSON.stringify(requests[1]?.messages)).toContain('$.route: must be one of')
  })

  test('the second answer is returned even if it is invalid, because the service validates it', async () => {
    const { last, requests } = await run([{ text: 'no' }, { text: '{"route":1}' }], {
      shape: 'decide',
      output_schema: schema,
    })
    expect(last?.output).toEqual({ route: 1 })
    expect(requests).toHaveLength(2)
  })

  test('without a schema the text is the output', async () => {
    const { last } = await run([{ text: 'The set {} is empty.' }], { shape: 'decide' })
    expect(last?.output).toBe('The set {} is empty.')
  })

  test('a second empty answer fails the run', async () => {
    const { last, requests } = await run([{ text: '' }, { text: ' ' }], { shape: 'decide' })
    expect(requests[1]?.messages).toMatchObject([{ role: 'user' }, { role: 'user' }])
    expect(last?.error).toBe('model failed: the model gave an empty answer')
  })
})

describe('shape workflow', () => {
  const shape = { shape: 'workflow' as const, gate_patterns: [] }

  test('the workflow with the name of the task type gets the input, and its result is the output', async () => {
    plane = startFakePlane(() => ({ json: { result: { ok: 1 } } }))
    const lines = await runOneBrief(plane, testBrief(shape))
    expect(plane.seen).toMatchObject([
      { method: 'POST', path: '/v1/internal/workflows/triage', body: { args: { order: 7 } } },
    ])
    expect(lines.map(({ event }) => event)).toEqual(['step.started', 'tool.called', 'tool.result', undefined])
    expect(lines.at(-1)).toEqual({ run: 'r1', output: { ok: 1 } })
  })

  test('a failed workflow fails the run with the message of the service', async () => {
    plane = startFakePlane(() => ({ status: 504, json: { error: 'workflow took longer than 5000 ms' } }))
    const lines = await runOneBrief(plane, testBrief(shape))
    expect(lines.at(-1)?.error).toBe('workflow failed: workflow took longer than 5000 ms')
  })
})

describe('shape agent', () => {
  test('model and tools take turns until the finish call', async () => {
    const turns = [{ text: 'Let me see.', calls: [{ name: 'case_get', input: {} }] }, finish({ route: 'a' })]
    const { lines, last } = await run(turns, { tools: ['case_get'], output_schema: schema })
    const events = lines.filter(({ turn }) => turn === undefined)
    expect(events.map(({ event }) => event)).toEqual([
      'step.started',
      'token.delta',
      'tool.called',
      'tool.result',
      'step.started',
      undefined,
    ])
    expect(last?.output).toEqual({ route: 'a' })
  })

  test('a text that matches the schema is accepted without a finish call', async () => {
    const { last, requests } = await run([{ text: '{"route":"a"}' }], { output_schema: schema })
    expect(last?.output).toEqual({ route: 'a' })
    expect(requests).toHaveLength(1)
  })

  test('a finish call without the output field, or with JSON as text, is understood', async () => {
    const bare = await run([{ calls: [{ name: 'finish', input: { route: 'a' } }] }], { output_schema: schema })
    expect(bare.last?.output).toEqual({ route: 'a' })
    plane?.close()
    const text = await run([finish('{"route":"b"}')], { output_schema: schema })
    expect(text.last?.output).toEqual({ route: 'b' })
  })

  test('an invalid output gets one repair turn, even after the last step', async () => {
    const { last, requests } = await run([finish({}), finish({ route: 'b' })], { steps: 1, output_schema: schema })
    expect(last?.output).toEqual({ route: 'b' })
    expect(JSON.stringify(requests[1]?.messages)).toContain('$.route: is required')
  })

  test('a second invalid output is returned as it is', async () => {
    const { last, requests } = await run([finish({}), finish({ route: 9 })], { output_schema: schema })
    expect(last?.output).toEqual({ route: 9 })
    expect(requests).toHaveLength(2)
  })

  test('the last step requires the finish call, and a run without it fails', async () => {
    const look = { calls: [{ name: 'case_get', input: {} }] }
    const { last } = await run([look, look], { steps: 2, tools: ['case_get'] })
    expect(last?.error).toBe('no output after 2 steps')
    const models = plane?.seen.filter(({ path }) => path.includes('/llm/')) ?? []
    expect(models.map(({ body }) => body.tool_choice)).toEqual([undefined, { type: 'tool', name: 'finish' }])
  })

  test('the model is offered exactly the tools of the brief and finish', async () => {
    const { requests } = await run([finish(1)], { tools: ['act', 'records_get', 'made_up'] })
    expect(requests[0]?.tools).toMatchObject([{ name: 'act' }, { name: 'records_get' }, { name: 'finish' }])
  })

  test('a tool that is not in the brief is not executed', async () => {
    const { lines } = await run([{ calls: [{ name: 'act', input: {} }] }, finish(1)], { tools: ['read'] })
    expect(eventData(lines, 'tool.result')).toMatchObject([{ tool: 'act', ok: false, error: "there is no tool 'act'" }])
    expect(plane?.seen.some(({ path }) => path.includes('actions'))).toBe(false)
  })
})
