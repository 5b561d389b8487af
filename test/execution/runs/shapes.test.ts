import { describe, expect, test } from 'vitest'
import { sharedApp } from '../../app.ts'

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

async function runTask(task_type: string, extra: Record<string, unknown> = {}) {
  const { id } = await app().createTask({ wedge: 'forms', task_type, ...extra })
  const events = await app().events(id)
  const { body: task } = await app().call('GET', `/v1/tasks/${id}`)
  return { task, events, types: events.map(({ event }) => event) }
}

describe('the shape agent', () => {
  test('calls the tools of the service, one per turn', async () => {
    const { task, events } = await runTask('tour', { input: { n: 21 } })
    expect(task).toMatchObject({ status: 'succeeded', output: { doubled: 42, stored: true } })
    const called = events.filter(({ event }) => event === 'tool.called').map(({ data }) => data.data.tool)
    expect(called).toEqual(['workflow', 'records_put', 'records_get', 'report_gap', 'records_get'])
    const progress = events.filter(({ event }) => event === 'progress').map(({ data }) => data.data.text)
    expect(progress).toEqual(['Missing knowledge: Is it enough?', 'nearly there'])
    expect(events.filter(({ event }) => event === 'token.delta').map(({ data }) => data.data.text)).toEqual([
      'I double it.',
    ])
    expect(events[0]?.data.data).toMatchObject({ sandbox: 'bwrap', model: 'rehearsal/rehearsal' })
    const { body } = await app().call('GET', '/v1/wedges/forms/intake')
    expect(JSON.stringify(body)).toContain('Is it enough?')
  })

  test('gets one extra turn to repair an invalid output', async () => {
    const { task, types } = await runTask('repaired')
    expect(task).toMatchObject({ status: 'succeeded', output: { said: 'now right' } })
    expect(types.filter((type) => type === 'output.validated')).toHaveLength(1)
  })

  test('fails with output_invalid when the repaired output is invalid, too', async () => {
    const { task, events, types } = await runTask('stubborn')
    expect(task).toMatchObject({ status: 'failed', output: null, error: { reason: 'output_invalid' } })
    expect(types.slice(-2)).toEqual(['output.validated', 'task.finished'])
    expect(events.at(-2)?.data.data).toMatchObject({ ok: false, errors: [{ path: expect.stringContaining('said') }] })
  })

  test('fails when it reaches its maximum number of steps', async () => {
    const { task, types } = await runTask('endless')
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect(task.error.message).toContain('3 steps')
    expect(types.filter((type) => type === 'step.started')).toHaveLength(3)
  })

  test('delivers only the files that it wrote below out/', async () => {
    const { task } = await runTask('filed')
    expect(task.artifacts.map(({ name }: { name: string }) => name)).toEqual(['output.json', 'report.md'])
    const { body, headers } = await app().call('GET', `/v1/artifacts/${task.artifacts[1].id}`)
    expect([body, headers.get('content-type')]).toEqual(['# All well', 'text/markdown; charset=utf-8'])
  })

  test('fails with model_failed without a rehearsal, and the message names the missing file', async () => {
    const { task } = await runTask('unrehearsed')
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'model_failed' } })
    expect(task.error.message).toContain('rehearsals/unrehearsed.json')
  })

  test('sees only the tools that the task allows', async () => {
    const { events, task } = await runTask('tour', { input: { n: 1 }, tools: ['records_put', 'records_get'] })
    const refused = events.find(({ event }) => event === 'tool.result')
    expect(refused?.data.data).toMatchObject({ ok: false, error: "there is no tool 'workflow'" })
    expect(task.output).toEqual({ doubled: null, stored: true })
    const unknown = { wedge: 'forms', task_type: 'tour', tools: ['teleport'] }
    expect((await app().call('POST', '/v1/tasks', unknown)).status).toBe(400)
  })

  test('must match the output schema of the task, which replaces that of its type', async () => {
    const output_schema = { type: 'object', required: ['other'] }
    const { task } = await runTask('repaired', { output_schema })
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'output_invalid' } })
  })
})

describe('the other shapes', () => {
  test('decide returns one structured output', async () => {
    const { task, types } = await runTask('decided', { input: { text: 'yes' } })
    expect(task).toMatchObject({ status: 'succeeded', output: { said: 'yes' } })
    expect(types).toEqual(['task.created', 'step.started', 'output.validated', 'artifact.created', 'task.finished'])
  })

  test('decide fails with output_invalid when its output does not match', async () => {
    const { task } = await runTask('decided', { input: { text: 7 } })
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'output_invalid' } })
  })

  test('workflow runs code without a model', async () => {
    const { task, types } = await runTask('double', { input: { n: 4 } })
    expect(task).toMatchObject({ status: 'succeeded', output: { doubled: 8 } })
    expect(types).toContain('tool.result')
  })

  test.each([
    ['double', { n: 'four' }, 'n'],
    ['fails', {}, 'no luck'],
  ])('a failing workflow (%s) fails the task with agent_failed', async (type, input, message) => {
    const { task } = await runTask(type, { input })
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect(task.error.message).toContain(message)
  })

  test('a task type with missing connections fails before a sandbox starts', async () => {
    const { task, events } = await runTask('connected')
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'connection_missing' } })
    expect(task.error.message).toContain('mail')
    expect(events.map(({ event }) => event)).toEqual(['task.created', 'task.finished'])
    expect(events[0]?.data.data.sandbox).toBe('none')
  })
})
