import { expect, onTestFinished } from 'vitest'
import { GATED_ENV, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { startTestApp, type TestApp } from '../app.ts'
import type { StoreKind } from '../stores.ts'

/** A service with one mail connection, named `mail`, and a wedge whose tasks send one mail. */
export interface MailApp extends TestApp {
  connectionId: string
}

export const MAIL = { to: 'agent@test.example', subject: 'Your order', text: 'It left today.' }

/** What an agent is told of an action that it asked for. */
export interface SentAction {
  approvalId: string
  output: Record<string, unknown>
  /** The entry of the action in the task's list of actions. */
  action: Record<string, unknown>
}

interface MailAppOptions {
  secret?: string
  env?: Record<string, string>
  wedges?: Record<string, unknown>
}

export async function mailApp(
  store: StoreKind,
  config: Record<string, unknown>,
  { secret, env = {}, wedges = gatedWedgeFiles('gate') }: MailAppOptions = {},
): Promise<MailApp> {
  const app = await startTestApp({ store, wedges, env: { ...GATED_ENV, ...env } })
  onTestFinished(() => app.stop())
  const created = await app.call('POST', '/v1/connections', { kind: 'email', name: 'mail', config })
  expect(created.status).toBe(201)
  const connectionId = created.body.id
  if (secret !== undefined) await app.call('POST', `/v1/connections/${connectionId}/secret`, { value: secret })
  return { ...app, connectionId }
}

export const startMail = (app: MailApp, payload: unknown, action = 'mail:send') =>
  app.createTask({ wedge: 'gate', task_type: 'act', input: { connection: 'mail', action, payload } })

/** Sends a mail that a person approves, and waits until the task has ended. */
export async function sendMail(app: MailApp, payload: unknown, edited?: unknown): Promise<SentAction> {
  const task = await startMail(app, payload)
  const events = await app.events(task.id, { until: ({ event }) => event === 'approval.requested' })
  const approvalId = events.at(-1)?.data.data.approval_id
  const decision = await app.call('POST', `/v1/approvals/${approvalId}/approve`, edited === undefined ? {} : { edited })
  expect(decision.status).toBe(200)
  const { output } = await app.finished(task.id)
  const [action] = (await app.call('GET', `/v1/tasks/${task.id}/actions`)).body.data
  return { approvalId, output: output as Record<string, unknown>, action }
}

export const readConnection = async (app: MailApp) =>
  (await app.call('GET', `/v1/connections/${app.connectionId}`)).body

export const testMailConnection = async (app: MailApp) =>
  (await app.call('POST', `/v1/connections/${app.connectionId}/test`)).body
