export interface WidgetBrand {
  name: string | null
  color: string | null
  logo_url: string | null
  welcome: string | null
  language: string
  /** A visitor who leaves an address gets a mail about answers. */
  notifies: boolean
}

export interface VisitorMessage {
  id: string
  n: number
  from: 'visitor' | 'team'
  body: string
  created_at: string
}

export interface VisitorConversation {
  thread_id: string | null
  messages: VisitorMessage[]
  /** The number of the last message that the visitor has seen. */
  read_count: number
  is_working: boolean
}

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
    readBrand: () => call<WidgetBrand>(`${base}/v1/widgets/${id}`),
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
