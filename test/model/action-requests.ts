import type { ModelProject } from './model-project.ts'
import type { TaskKind } from './model-state.ts'
import type { ModelAction } from './model-step.ts'
import { STAGES } from './cases.ts'
import { MAX_PINGS_PER_DAY } from './tasks.ts'

const act = {
  call: { tool: 'act', input: { connection: 'crm', capability: '{{input.action}}', payload: '{{input.payload}}' } },
}

/** `note` waits for an approval of its action, `book` for an approval of its tool; all other kinds do not wait. */
export const GATED_WEDGE = {
  'gate/wedge.json': {
    wedge: 'gate',
    connections: ['crm'],
    workflows: [{ name: 'book_room' }],
    cases: { stages: STAGES, initial: STAGES[0] },
    policy: { auto_approve: [{ action: 'ping', max_per_day: MAX_PINGS_PER_DAY }, { action: 'hold' }] },
    task_types: { say: {}, act: {}, book: {}, bad: { output_schema: { type: 'object', required: ['said'] } } },
  },
  'gate/workflows/book_room.mjs': 'export default () => ({ booked: true })',
  'gate/rehearsals/say.json': [{ output: { said: '{{input}}' } }],
  'gate/rehearsals/bad.json': [{ output: { unsaid: 1 } }, { output: { unsaid: 2 } }],
  'gate/rehearsals/act.json': [act, { output: '{{last}}' }],
  'gate/rehearsals/book.json': [
    { call: { tool: 'workflow', input: { name: 'book_room', args: {} } } },
    { output: '{{last}}' },
  ],
}

const actionTask = (action: string, payload: object) => ({
  wedge: 'gate',
  task_type: 'act',
  input: { action, payload },
})

const TASKS: Record<TaskKind, object> = {
  say: { wedge: 'gate', task_type: 'say', input: 'hello' },
  bad: { wedge: 'gate', task_type: 'bad' },
  book: { wedge: 'gate', task_type: 'book' },
  note: actionTask('send_note', { text: 'hello' }),
  ping: actionTask('ping', {}),
  held: actionTask('hold', { hold: true }),
}

interface Request {
  method: string
  path: string
  body?: unknown
  /** The idempotency key. */
  key?: string | null
  /** Whether the call needs the session of the owner. */
  owner?: boolean
}

const post = (path: string, body?: unknown): Request => ({ method: 'POST', path, body })
const put = (path: string, body: unknown): Request => ({ method: 'PUT', path, body })

/** The HTTP request of an action; `subject` is the model name of the object that it changes. */
export function toRequest(
  { id, ids }: Pick<ModelProject, 'id' | 'ids'>,
  action: Exclude<ModelAction, { do: 'advance' }>,
  subject: string,
): Request {
  const subjectId = ids.get(subject)
  switch (action.do) {
    case 'create':
      return { ...post('/v1/tasks', TASKS[action.kind]), key: action.key }
    case 'retry':
    case 'cancel':
      return post(`/v1/tasks/${subjectId}/${action.do}`)
    case 'feedback':
      return post(`/v1/tasks/${subjectId}/feedback`, action.note ? { note: 'shorter' } : { rating: 5 })
    case 'approve':
      return post(
        `/v1/approvals/${ids.get(`approval of ${subject}`)}/approve`,
        action.edit ? { edited: { text: 'bye' } } : {},
      )
    case 'reject':
      return post(`/v1/approvals/${ids.get(`approval of ${subject}`)}/reject`)
    case 'enable':
      return { ...put(`/v1/projects/${id}`, { wedges: action.on ? null : [] }), owner: true }
    case 'open case':
      return post('/v1/cases', { wedge: 'gate', ...(action.stage !== null && { stage: action.stage }) })
    case 'move case':
      return put(`/v1/cases/${subjectId}`, { stage: action.stage })
    case 'set case status':
      return put(`/v1/cases/${subjectId}`, { status: action.status })
    case 'task on case':
      return post(`/v1/cases/${subjectId}/tasks`, { task_type: 'say', input: 'hello' })
    case 'put record': {
      const { key, value, version } = action
      return post('/v1/records', { wedge: 'gate', collection: 'all', key, value, ...(version !== null && { version }) })
    }
    case 'delete record':
      return { method: 'DELETE', path: `/v1/records/${subjectId}` }
    case 'create schedule': {
      const { everyS: seconds, enabled } = action
      const cadence = { kind: 'every', seconds }
      return post('/v1/schedules', { name: 'often', wedge: 'gate', task_type: 'say', cadence, enabled })
    }
    case 'switch schedule':
      return put(`/v1/schedules/${subjectId}`, { enabled: action.enabled })
    case 'delete schedule':
      return { method: 'DELETE', path: `/v1/schedules/${subjectId}` }
    case 'run schedule':
      return post(`/v1/schedules/${subjectId}/run`)
    case 'create connection':
      return post('/v1/connections', { kind: 'webhook', name: action.label, config: { url: 'https://a.example/x' } })
    case 'rename connection':
      return put(`/v1/connections/${subjectId}`, { name: action.label })
    case 'write secret':
      return post(`/v1/connections/${subjectId}/secret`, { value: 'sealed' })
    case 'delete connection':
      break
  }
  return { method: 'DELETE', path: `/v1/connections/${subjectId}` }
}
