import type { VisitorConversation, Widget } from '../api/openapi.ts'

export interface OutgoingMessage {
  id: string
  body: string
  email?: string
  name?: string
}

/** The status of a response that is not ok; 0 if there was none. */
export class CallFailed extends Error {
  readonly status: number
  constructor(status: number) {
    super(`the call failed with status ${status}`)
    this.status = status
  }
}

export type WidgetApi = ReturnType<typeof createWidgetApi>

/** The calls of one widget. The key of the visitor is only in bodies: addresses end up in logs. */
export function createWidgetApi(base: string, channel: string, visitor: () => string) {
  const id = encodeURIComponent(channel)
  return {
    readBrand: () => call<Widget>(`${base}/v1/widgets/${id}`),
    readMessages: (after: number, isOpen: boolean) =>
      call<VisitorConversation>(`${base}/v1/widgets/${id}/messages`, { visitor: visitor(), after, is_open: isOpen }),
    sendMessage: (message: OutgoingMessage) =>
      call<unknown>(`${base}/v1/hooks/${id}`, { visitor: visitor(), ...message }),
  }
}

async function call<Result>(url: string, body?: object): Promise<Result> {
  const sent = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(url, { ...sent, credentials: 'omit' }).catch(() => null)
  if (!response?.ok) throw new CallFailed(response?.status ?? 0)
  const result: Result = await response.json()
  return result
}
