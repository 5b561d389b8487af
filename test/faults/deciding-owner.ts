import { expect } from 'vitest'
import type { FakeUpstream, ReceivedRequest } from '../fake-upstream.ts'
import { type ApiResponse, callApi } from '../http.ts'
import { HOOK_SECRET } from '../approvals/notifications/chat-app.ts'
import { clickOf, readSlackMessage } from '../approvals/notifications/slack-app.ts'
import { clickUpdate, TELEGRAM_SECRET_HEADER, textUpdate } from '../approvals/notifications/telegram-app.ts'
import type { ServiceProcess } from './service-process.ts'
import { addNotifier, callSlackHook, linkOwner, signUpOwner, startOwnerLink } from './slack-owner.ts'

type CalledService = Pick<ServiceProcess, 'url' | 'call'>

/** The same click each time. */
type Click = () => Promise<ApiResponse>

/** Finds the click that decides, in the message about an approval. Telegram asks for a confirmation first. */
type ClickFinder = (message: ReceivedRequest) => Click | Promise<Click>

/** Links the owner to Slack or Telegram. The result waits for the message about an approval, and returns the click that approves. */
export async function linkDecidingOwner(
  chat: 'Slack' | 'Telegram',
  service: CalledService,
  provider: FakeUpstream,
): Promise<(approval: string) => Promise<Click>> {
  const toClick = await (chat === 'Slack' ? linkSlack : linkTelegram)(service, provider)
  return async (approval) => {
    const isAbout = ({ url, body }: ReceivedRequest) =>
      /\/(?:chat\.postMessage|sendMessage)$/.test(url) && body.includes(approval)
    await expect.poll(() => provider.received.some(isAbout)).toBe(true)
    return toClick(provider.received.find(isAbout) ?? expect.fail())
  }
}

async function linkSlack(service: CalledService, provider: FakeUpstream): Promise<ClickFinder> {
  const { hookPath } = await linkOwner(service, provider.url)
  return (message) => {
    const body = clickOf({ provider }, 'U1', readSlackMessage(message), 'approve')
    return () => callSlackHook(service, hookPath, body)
  }
}

async function linkTelegram(service: CalledService, provider: FakeUpstream): Promise<ClickFinder> {
  const session = await signUpOwner(service)
  const hookPath = await addNotifier(service, 'telegram', provider.url)
  const callHook = (update: object) =>
    callApi(service.url, '', 'POST', hookPath, update, { headers: { [TELEGRAM_SECRET_HEADER]: HOOK_SECRET } })
  const { url = '' } = await startOwnerLink(service, session, 'telegram')
  const code = new URL(url).searchParams.get('start')
  expect((await callHook(textUpdate(7, `/start ${code}`))).status).toBe(200)
  return async ({ body }) => {
    expect((await callHook(clickUpdate(7, JSON.parse(body), 'Approve'))).status).toBe(200)
    const prompt = provider.received.findLast(({ url }) => url.endsWith('/sendMessage'))
    const confirm = clickUpdate(7, JSON.parse(prompt?.body ?? ''), 'Approve')
    return () => callHook(confirm)
  }
}
