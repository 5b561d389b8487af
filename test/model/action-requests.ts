import type { ModelProject } from './model-project.ts'
import type { TaskKind } from './model-state.ts'
import type { ModelAction } from './model-step.ts'
import { STAGES } from './cases.ts'
import { MAX_PINGS_PER_DAY } from './tasks.ts'

const act = {
  call: { tool: 'act', input: { connection: 'crm', capability: '{{input.action}}', payload: '{{input.payload}}' } },
}

/** `note` and `book` wait for a person, the one at the action proxy and the other at the tool gate; the rest does not. */
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

const acting = (action: string, payload: object) => ({ wedge: 'gate', task_type: 'act', input: { action, payload } })

const TASKS: Record<TaskKind, object> = {
  say: { wedge: 'gate', task_type: 'say', input: 'hello' },
  bad: { wedge: 'gate', task_type: 'bad' },
  book: { wedge: 'gate', task_type: 'book' },
  note: acting('send_note', { text: 'hello' }),
  ping: acting('ping', {}),
  held: acting('hold', { hold: true }),
}

interface Request {
  method: string
  path: string
  body?: unknown
  /** The idempotency key. */
  key?: string | null
  /** Only the owner may. */
  owner?: boolean
}

const post = (path: string, body?: unknown): Request => ({ method: 'POST', path, body })
const put = (path: string, body: unknown): Request => ({ method: 'PUT', path, body })

/** The action as a request; `subject` is the name of what it is done to. */
export function toRequest(
  { id, ids }: Pick<ModelProject, 'id' | 'ids'>,
  action: Exclude<ModelAction, { do: 'advance' }>,
  subject: string,
): Request {
  const its = ids.get(subject)
  switch (action.do) {
    case 'create':
      return { ...post('/v1/tasks', TASKS[action.kind]), key: action.key }
    case 'retry':
    case 'cancel':
      return post(`/v1/tasks/${its}/${action.do}`)
    case 'feedback':
      return post(`/v1/tasks/${its}/feedback`, action.note ? { note: 'shorter' } : { rating: 5 })
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
      return put(`/v1/cases/${its}`, { stage: action.stage })
    case 'turn case':
      return put(`/v1/cases/${its}`, { status: action.status })
    case 'task on case':
      return post(`/v1/cases/${its}/tasks`, { task_type: 'say', input: 'hello' })
    case 'put record': {
      const { key, value, version } = action
      return post('/v1/records', { wedge: 'gate', collection: 'all', key, value, ...(version !== null && { version }) })
    }
    case 'delete record':
      return { method: 'DELETE', path: `/v1/records/${its}` }
    case 'create schedule': {
      const { everyS: seconds, enabled } = action
      const cadence = { kind: 'every', seconds }
      return post('/v1/schedules', { name: 'often', wedge: 'gate', task_type: 'say', cadence, enabled })
    }
    case 'switch schedule':
      return put(`/v1/schedules/${its}`, { enabled: action.enabled })
    case 'delete schedule':
      return { method: 'DELETE', path: `/v1/schedules/${its}` }
    case 'run schedule':
      return post(`/v1/schedules/${its}/run`)
    case 'create connection':
      return post('/v1/connections', { kind: 'webhook', name: action.called, config: { url: 'https://a.example/x' } })
    case 'rename connection':
      return put(`/v1/connections/${its}`, { name: action.called })
    case 'write secret':
      return post(`/v1/connections/${its}/secret`, { value: 'sealed' })
    case 'delete connection':
      break
  }
  return { method: 'DELETE', path: `/v1/connections/${its}` }
}
