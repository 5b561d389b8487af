import { afterAll, beforeAll, expect } from 'vitest'
import { startTestApp, type TestApp } from '../../app.ts'
import { openPortal } from '../../customers/channels/channel-app.ts'
import type { StoreKind } from '../../stores.ts'
import { GATED_ENV } from '../decisions/gated-app.ts'

export const SIZES = ['small', 'large']

export const ADDRESS_SCHEMA = {
  type: 'object',
  required: ['city'],
  properties: { city: { type: 'string' }, floor: { type: 'integer' }, lift: { type: 'boolean' } },
}

/** Lists and objects of every kind that a form asks for. */
export const TABLE_SCHEMA = {
  type: 'object',
  required: ['guests'],
  properties: {
    guests: {
      type: 'array',
      minItems: 2,
      maxItems: 3,
      items: {
        type: 'object',
        title: 'Guest',
        required: ['name', 'vegan'],
        properties: { name: { type: 'string' }, age: { type: 'integer' }, vegan: { type: 'boolean' } },
      },
    },
    tables: { type: 'array', title: 'Table numbers', items: { type: 'integer', title: 'Table' } },
    extras: { type: 'array', maxItems: 2, items: { enum: ['music', 'flowers', 'cake'] } },
    notes: { type: 'object' },
  },
}

/** Lists that are refused when they are too short, some without a `type`; one asks for more rows than a page can show. */
const LIMITS_SCHEMA = {
  type: 'object',
  required: ['pets', 'sizes', 'seats'],
  properties: {
    pets: { type: 'array', minItems: 2, items: { title: 'Pet', properties: { name: { type: 'string' }, age: {} } } },
    sizes: { type: 'array', minItems: 2, items: { enum: [36, 38, 40] } },
    seats: { type: 'array', minItems: 2, items: { type: 'boolean', title: 'Seat' } },
    included: { type: 'object', additionalProperties: { type: 'boolean' } },
    many: { type: 'array', minItems: 1e10, items: { type: 'integer' } },
  },
}

const ask = (input: object) => [{ call: { tool: 'ask_person', input } }, { output: { got: '{{last}}' } }]

/** Each task type asks one question, of the team or of the client. The policy would approve every action. */
export const QUESTION_WEDGE = {
  'ask/wedge.json': {
    wedge: 'ask',
    title: 'Questions',
    task_types: { text: {}, choice: {}, form: {}, client: {}, client_form: {}, client_table: {}, client_limits: {} },
    approvals: [{ action: 'ask_person', risk: 'high', required: true }],
    policy: { auto_approve: [{ action: 'ask_person' }] },
  },
  'ask/rehearsals/text.json': ask({ question: '{{input.question}}', to: '{{input.to}}' }),
  'ask/rehearsals/choice.json': ask({ question: 'Which size?', options: SIZES, to: 'team' }),
  'ask/rehearsals/form.json': ask({ question: 'Where to?', schema: ADDRESS_SCHEMA, to: 'team' }),
  'ask/rehearsals/client.json': ask({ question: 'Which size do you need?', options: SIZES, to: 'client' }),
  'ask/rehearsals/client_form.json': ask({ question: 'Where shall we send it?', schema: ADDRESS_SCHEMA, to: 'client' }),
  'ask/rehearsals/client_table.json': ask({ question: 'Who comes?', schema: TABLE_SCHEMA, to: 'client' }),
  'ask/rehearsals/client_limits.json': ask({ question: 'What comes along?', schema: LIMITS_SCHEMA, to: 'client' }),
}

export type QuestionApp = TestApp & { channel: string }

export async function openQuestionApp(store: StoreKind, env: Record<string, string> = {}): Promise<QuestionApp> {
  const app = await startTestApp({ store, wedges: QUESTION_WEDGE, env: { ...GATED_ENV, ...env } })
  return { ...app, channel: await openChannel(app, 'client') }
}

/** A channel whose messages start tasks of a type that asks the client. */
export async function openChannel(app: TestApp, task_type: string): Promise<string> {
  const connection = await app.call('POST', '/v1/connections', { kind: 'email', name: `mail-${task_type}` })
  const binding = { connection_id: connection.body.id, address: `${task_type}@desk.example`, wedge: 'ask', task_type }
  return (await app.call('POST', '/v1/channels', binding)).body.id
}

export function sharedQuestionApp(store: StoreKind): () => QuestionApp {
  let app: QuestionApp
  beforeAll(async () => {
    app = await openQuestionApp(store)
  })
  afterAll(() => app?.stop())
  return () => app
}

/** A task that asks the team, and its pending question. */
export async function askTeam(app: QuestionApp, task_type = 'text', input: object = { question: 'Why?', to: 'team' }) {
  const { id } = await app.createTask({ wedge: 'ask', task_type, input })
  return { id, approval: await pendingQuestion(app, id) }
}

/** A client with a portal session whose message made the agent ask back. */
export async function askClient(app: QuestionApp, handle: string) {
  const client = await openPortal(app, handle)
  return { ...client, id: client.task_id, approval: await pendingQuestion(app, client.task_id) }
}

export async function pendingQuestion(app: TestApp, taskId: string) {
  await app.events(taskId, { until: ({ event }) => event === 'approval.requested' || event === 'task.finished' })
  const { body } = await app.call('GET', `/v1/approvals?task_id=${taskId}&status=pending&path=question`)
  expect(body.data, JSON.stringify((await app.call('GET', `/v1/tasks/${taskId}`)).body)).toHaveLength(1)
  return body.data[0]
}

export const answer = (app: TestApp, approval: { approval_id: string }, value: unknown) =>
  app.call('POST', `/v1/approvals/${approval.approval_id}/approve`, { edited: { answer: value } })
