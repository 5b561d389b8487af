import { describe, expect, test } from 'vitest'
import { sharedApp } from '../app.ts'

const SAID = { type: 'object', required: ['said'], properties: { said: { type: 'string' } } }
const call = (tool: string, input: Record<string, unknown>) => ({ call: { tool, input } })

const WEDGES = {
  'forms/wedge.json': {
    wedge: 'forms',
    title: 'Forms',
    tools: ['files'],
    connections: ['mail'],
    workflows: [
      { name: 'double', input_schema: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } } },
      { name: 'fails' },
    ],
    task_types: {
      tour: { output_schema: { type: 'object', required: ['doubled', 'stored'] } },
      decided: { harness: { shape: 'decide' }, output_schema: SAID },
      double: { harness: { shape: 'workflow' }, output_schema: { type: 'object', required: ['doubled'] } },
      fails: { harness: { shape: 'workflow' } },
      repaired: { output_schema: SAID },
      stubborn: { output_schema: SAID },
      endless: { harness: { steps: 3 } },
      filed: {},
      unrehearsed: {},
      connected: { harness: { needs_connections: true } },
    },
  },
  'forms/workflows/double.mjs': 'export default ({ n }) => ({ doubled: n * 2 })',
  'forms/workflows/fails.mjs': "export default () => { throw new Error('no luck') }",
  'forms/rehearsals/tour.json': [
    { say: 'I double it.', ...call('workflow', { name: 'double', args: { n: '{{input.n}}' } }) },
    call('records_put', { collection: 'sums', key: 'one', value: '{{last}}' }),
    call('records_get', { collection: 'sums', key: 'one' }),
    call('report_gap', { question: 'Is it enough?', why: 'nobody said' }),
    call('progress', { text: 'nearly there' }),
    call('records_get', { collection: 'sums', key: 'one' }),
    { output: { doubled: '{{last.value.doubled}}', stored: true } },
  ],
  'forms/rehearsals/decided.json': [{ output: { said: '{{input.text}}' } }],
  'forms/rehearsals/repaired.json': [call('finish', { output: { wrong: true } }), { output: { said: 'now right' } }],
  'forms/rehearsals/stubborn.json': [{ output: { said: 5 } }],
  'forms/rehearsals/endless.json': [
    ...[1, 2, 3, 4].map((n) => call('progress', { text: `turn ${n}` })),
    { output: 'never' },
  ],
  'forms/rehearsals/filed.json': [
    call('write_file', { path: 'out/report.md', content: '# All well' }),
    call('write_file', { path: 'draft.md', content: 'not delivered' }),
    { output: 'filed' },
  ],
  'forms/rehearsals/connected.json': [{ output: 1 }],
}

const app = sharedApp({
  store: 'sqlite',
  wedges: WEDGES,
  env: { SVC_SANDBOX: 'bwrap', SVC_POOL: '1', SVC_TASK_RATE_PER_MIN: '10000' },
})

async function ran(task_type: string, more: Record<string, unknown> = {}) {
  const { id } = await app().createTask({ wedge: 'forms', task_type, ...more })
  const events = await app().events(id)
  const { body: task } = await app().call('GET', `/v1/tasks/${id}`)
  return { task, events, types: events.map(({ event }) => event) }
}

describe('the shape agent', () => {
  test('works in turns with the tools of the service', async () => {
    const { task, events } = await ran('tour', { input: { n: 21 } })
    expect(task).toMatchObject({ status: 'succeeded', output: { doubled: 42, stored: true } })
    const called = events.filter(({ event }) => event === 'tool.called').map(({ data }) => data.data.tool)
    expect(called).toEqual(['workflow', 'records_put', 'records_get', 'report_gap', 'records_get'])
    const said = events.filter(({ event }) => event === 'progress').map(({ data }) => data.data.text)
    expect(said).toEqual(['Missing knowledge: Is it enough?', 'nearly there'])
    expect(events.filter(({ event }) => event === 'token.delta').map(({ data }) => data.data.text)).toEqual([
      'I double it.',
    ])
    expect(events[0]?.data.data).toMatchObject({ sandbox: 'bwrap', model: 'rehearsal/rehearsal' })
    const { body } = await app().call('GET', '/v1/wedges/forms/intake')
    expect(JSON.stringify(body)).toContain('Is it enough?')
  })

  test('gets one turn to repair its output', async () => {
    const { task, types } = await ran('repaired')
    expect(task).toMatchObject({ status: 'succeeded', output: { said: 'now right' } })
    expect(types.filter((type) => type === 'output.validated')).toHaveLength(1)
  })

  test('fails with output_invalid when the repair does not help either', async () => {
    const { task, events, types } = await ran('stubborn')
    expect(task).toMatchObject({ status: 'failed', output: null, error: { reason: 'output_invalid' } })
    expect(types.slice(-2)).toEqual(['output.validated', 'task.finished'])
    expect(events.at(-2)?.data.data).toMatchObject({ ok: false, errors: [{ path: expect.stringContaining('said') }] })
  })

  test('ends after its steps', async () => {
    const { task, types } = await ran('endless')
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect(task.error.message).toContain('3 steps')
    expect(types.filter((type) => type === 'step.started')).toHaveLength(3)
  })

  test('delivers what it wrote below out/, and nothing else', async () => {
    const { task } = await ran('filed')
    expect(task.artifacts.map(({ name }: { name: string }) => name)).toEqual(['output.json', 'report.md'])
    const { body, headers } = await app().call('GET', `/v1/artifacts/${task.artifacts[1].id}`)
    expect([body, headers.get('content-type')]).toEqual(['# All well', 'text/markdown; charset=utf-8'])
  })

  test('without a rehearsal fails with model_failed, and says what to do', async () => {
    const { task } = await ran('unrehearsed')
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'model_failed' } })
    expect(task.error.message).toContain('rehearsals/unrehearsed.json')
  })

  test('sees only the tools that the task leaves it', async () => {
    const { events, task } = await ran('tour', { input: { n: 1 }, tools: ['records_put', 'records_get'] })
    const refused = events.find(({ event }) => event === 'tool.result')
    expect(refused?.data.data).toMatchObject({ ok: false, error: "there is no tool 'workflow'" })
    expect(task.output).toEqual({ doubled: null, stored: true })
    const unknown = { wedge: 'forms', task_type: 'tour', tools: ['teleport'] }
    expect((await app().call('POST', '/v1/tasks', unknown)).status).toBe(400)
  })

  test("is held to the task's own schema before that of its type", async () => {
    const output_schema = { type: 'object', required: ['other'] }
    const { task } = await ran('repaired', { output_schema })
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'output_invalid' } })
  })
})

describe('the other shapes', () => {
  test('decide gives one structured answer', async () => {
    const { task, types } = await ran('decided', { input: { text: 'yes' } })
    expect(task).toMatchObject({ status: 'succeeded', output: { said: 'yes' } })
    expect(types).toEqual(['task.created', 'step.started', 'output.validated', 'artifact.created', 'task.finished'])
  })

  test('decide without a good answer is output_invalid', async () => {
    const { task } = await ran('decided', { input: { text: 7 } })
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'output_invalid' } })
  })

  test('workflow is code and no model', async () => {
    const { task, types } = await ran('double', { input: { n: 4 } })
    expect(task).toMatchObject({ status: 'succeeded', output: { doubled: 8 } })
    expect(types).toContain('tool.result')
  })

  test.each([
    ['double', { n: 'four' }, 'n'],
    ['fails', {}, 'no luck'],
  ])('workflow %s that fails is agent_failed', async (type, input, message) => {
    const { task } = await ran(type, { input })
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect(task.error.message).toContain(message)
  })

  test('a type that needs connections fails before a sandbox starts', async () => {
    const { task, events } = await ran('connected')
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'connection_missing' } })
    expect(task.error.message).toContain('mail')
    expect(events.map(({ event }) => event)).toEqual(['task.created', 'task.finished'])
    expect(events[0]?.data.data.sandbox).toBe('none')
  })
})
