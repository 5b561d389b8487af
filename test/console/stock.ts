import { vi } from 'vitest'
import { callApi } from '../http.ts'
import type { Console } from './browser.ts'

const PASSWORD = 'correct horse battery'

/** One of everything, so that each page has all of its controls, and the addresses of what has an id in its own. */
export async function stock(console: Console) {
  const make = async (path: string, body: object) => (await console.call('POST', path, body)).body
  const done = await make('/v1/tasks', { wedge: 'poems', task_type: 'recite' })
  const connection = await make('/v1/connections', { kind: 'email', name: 'mailbox', config: {} })
  const bound = { connection_id: connection.id, address: 'help@example.com' }
  const channel = await make('/v1/channels', { ...bound, wedge: 'inbox-triage', task_type: 'acknowledge' })
  const arrived = await make(`/v1/channels/${channel.id}/inbound`, {
    from: { handle: 'grace@example.com', name: 'Grace' },
    subject: 'Locked out',
    body: 'I cannot log in.',
  })
  await make('/v1/cases', { wedge: 'inbox-triage', title: 'Access of Grace' })
  await make('/v1/records', { wedge: 'letters', collection: 'sent', key: 'A-1', value: { to: 'Ada' } })
  await make('/v1/wedges/refund-desk/knowledge', { name: 'holidays', content: 'We are closed in August.' })
  const cadence = { kind: 'daily', hour: 8, minute: 30 }
  await make('/v1/schedules', { name: 'ledger', wedge: 'refund-desk', task_type: 'review_ledger', cadence })
  await make('/v1/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['approval.requested', 'task.finished'] })
  const over = async () => (await console.call('GET', `/v1/tasks/${done.id}`)).body.status === 'succeeded'
  await vi.waitUntil(over, { timeout: 30_000 })
  return { done: `/tasks/${done.id}`, client: `/clients/${arrived.client_id}`, thread: `/threads/${arrived.thread_id}` }
}

/** The address of a task that waits for a person; it does so for five minutes. */
export async function asking(console: Console) {
  const letter = { wedge: 'letters', task_type: 'write', input: { to: 'Ada', subject: 'Hello' } }
  const { id } = (await console.call('POST', '/v1/tasks', letter)).body
  const waits = async () => (await console.call('GET', `/v1/tasks/${id}`)).body.status === 'awaiting_approval'
  await vi.waitUntil(waits, { timeout: 30_000 })
  return `/tasks/${id}`
}

/** The sessions of an owner, an admin, an operator and a viewer. */
export async function people({ url }: Console) {
  const account = { email: 'olga@example.com', password: PASSWORD }
  const owner = (await callApi(url, '', 'POST', '/v1/auth/signup', account)).body.session_token
  const invited = async (role: string) => {
    const { body } = await callApi(url, owner, 'POST', '/v1/members', { email: `${role}@example.com`, role })
    const accepted = { invite: body.invite, password: PASSWORD }
    return String((await callApi(url, '', 'POST', '/v1/auth/accept', accepted)).body.session_token)
  }
  return { owner, admin: await invited('admin'), operator: await invited('operator'), viewer: await invited('viewer') }
}
