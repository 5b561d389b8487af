import { expect } from 'vitest'
import { PASSWORD } from '../identity/accounts/members.ts'
import { callApi } from '../http.ts'
import { BOT_TOKEN, HOOK_SECRET } from '../approvals/notifications/chat-app.ts'
import { directMessage, signSlack } from '../approvals/notifications/slack-app.ts'
import type { ServiceProcess } from './service-process.ts'

type CalledService = Pick<ServiceProcess, 'url' | 'call'>

/** Signs up the owner, and returns the session. */
export async function signUpOwner(service: CalledService): Promise<string> {
  const account = { email: 'owner@example.com', password: PASSWORD }
  return (await service.call('POST', '/v1/auth/signup', account)).body.session_token
}

/** Signs up the owner, who gets messages in Slack. `hookPath` is where Slack calls. */
export async function linkOwner(
  service: CalledService,
  base_url: string,
): Promise<{ session: string; hookPath: string }> {
  const session = await signUpOwner(service)
  const hookPath = await addNotifier(service, 'slack', base_url)
  const { code } = await startOwnerLink(service, session, 'slack')
  expect((await callSlackHook(service, hookPath, directMessage('U1', code))).status).toBe(200)
  return { session, hookPath }
}

/** Sets up Slack or Telegram, and returns the path that it calls. */
export async function addNotifier(service: CalledService, kind: string, base_url: string): Promise<string> {
  const connection = { kind: 'custom', name: kind, config: { base_url } }
  const { id } = (await service.call('POST', '/v1/connections', connection)).body
  await service.call('POST', `/v1/connections/${id}/secret`, { value: BOT_TOKEN })
  await service.call('PUT', `/v1/notifiers/${kind}`, { connection: kind })
  const { hook_url } = (await service.call('POST', `/v1/notifiers/${kind}/secret`, { value: HOOK_SECRET })).body
  return new URL(hook_url).pathname
}

export async function startOwnerLink({ url }: Pick<ServiceProcess, 'url'>, session: string, kind: string) {
  const { body } = await callApi(url, session, 'POST', '/v1/me/notifications/links', { kind })
  const started: { code: string; url?: string } = body
  return started
}

/** A call of Slack, signed now. */
export function callSlackHook({ url }: Pick<ServiceProcess, 'url'>, hookPath: string, raw: string) {
  const headers = signSlack(raw, Math.floor(Date.now() / 1000))
  return callApi(url, '', 'POST', hookPath, undefined, { raw, headers })
}
