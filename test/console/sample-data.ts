import { FOUNDER_KEY } from '../app.ts'
import { callApi } from '../http.ts'
import { type Console, waitForStatus } from './console-browser.ts'

const PASSWORD = 'correct horse battery'

/** Creates one item of every kind, so that each page shows all controls; returns the paths of pages with an id. */
export async function createSampleData(console: Console) {
  const create = async (path: string, body: object) => (await console.call('POST', path, body)).body
  const finished = await create('/v1/tasks', { wedge: 'poems', task_type: 'recite' })
  const connection = await create('/v1/connections', { kind: 'email', name: 'mailbox', config: {} })
  const bound = { connection_id: connection.id, address: 'help@example.com' }
  const channel = await create('/v1/channels', { ...bound, wedge: 'inbox-triage', task_type: 'acknowledge' })
  const inbound = await create(`/v1/channels/${channel.id}/inbound`, {
    from: { handle: 'grace@example.com', name: 'Grace' },
    subject: 'Locked out',
    body: 'I cannot log in.',
  })
  const opened = await create('/v1/cases', { wedge: 'inbox-triage', title: 'Access of Grace' })
  await create('/v1/records', { wedge: 'letters', collection: 'sent', key: 'A-1', value: { to: 'Ada' } })
  await create('/v1/wedges/refund-desk/knowledge', { name: 'holidays', content: 'We are closed in August.' })
  const cadence = { kind: 'daily', hour: 8, minute: 30 }
  await create('/v1/schedules', { name: 'ledger', wedge: 'refund-desk', task_type: 'review_ledger', cadence })
  await create('/v1/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['approval.requested', 'task.finished'] })
  await waitForStatus(console, finished.id, 'succeeded')
  return {
    connection: `/connections/${connection.id}`,
    finished: `/tasks/${finished.id}`,
    case: `/cases/${opened.id}`,
    client: `/clients/${inbound.client_id}`,
    thread: `/conversations/${inbound.thread_id}`,
  }
}

/** Creates a task that needs approval and returns the path of its page. */
export async function createPendingTask(console: Console) {
  const letter = { wedge: 'letters', task_type: 'write', input: { to: 'Ada', subject: 'Hello' } }
  const { id } = (await console.call('POST', '/v1/tasks', letter)).body
  await waitForStatus(console, id, 'awaiting_approval')
  return `/tasks/${id}`
}

/** Creates an owner, an admin, an operator and a viewer, and returns their session tokens. */
export async function createMembers({ url }: Console) {
  const account = { email: 'olga@example.com', password: PASSWORD }
  const owner = (await callApi(url, FOUNDER_KEY, 'POST', '/v1/auth/signup', account)).body.session_token
  const invited = async (role: string) => {
    const { body } = await callApi(url, owner, 'POST', '/v1/members', { email: `${role}@example.com`, role })
    const accepted = { invite: body.invite, password: PASSWORD }
    return String((await callApi(url, '', 'POST', '/v1/auth/accept', accepted)).body.session_token)
  }
  return { owner, admin: await invited('admin'), operator: await invited('operator'), viewer: await invited('viewer') }
}
