/** The client's session. Its token is sent as a header only; the link's token stands behind the `#` until it is used. */
export interface Client {
  id: string
  display_name: string | null
}

export interface Thread {
  id: string
  subject: string | null
  status: string
  updated_at: string
}

export interface Message {
  id: string
  direction: 'inbound' | 'outbound'
  body: string
  task_id: string | null
  created_at: string
}

export interface Case {
  id: string
  title: string | null
  stage: string
  status: string
  updated_at: string
}

const TOKEN = 'svc.portal.token'

export const linkToken = (): string => decodeURIComponent(location.hash.slice(1))

/** Exchanged by a click, so that who only looks at the link, as mail scanners do, does not use it up. */
export async function openSession(token: string): Promise<Client> {
  const opened = await portal<{ session_token: string; client: Client }>('/session', { token })
  localStorage.setItem(TOKEN, opened.session_token)
  history.replaceState(null, '', '/portal')
  return opened.client
}

/** Null when nobody is signed in, or not any more. */
export async function currentClient(): Promise<Client | null> {
  if (localStorage.getItem(TOKEN) === null) return null
  return portal<Client>('/me').catch(() => (localStorage.removeItem(TOKEN), null))
}

export const threads = (): Promise<Thread[]> => portal<{ data: Thread[] }>('/threads').then(({ data }) => data)

export const cases = (): Promise<Case[]> => portal<{ data: Case[] }>('/cases').then(({ data }) => data)

export const thread = (id: string): Promise<Thread & { messages: Message[] }> =>
  portal(`/threads/${encodeURIComponent(id)}`)

export const say = (id: string, body: string): Promise<Message> =>
  portal(`/threads/${encodeURIComponent(id)}/messages`, { body })

async function portal<T>(path: string, body?: object): Promise<T> {
  const response = await asked(path, {
    ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  // The contract's types are promised by the service, not proven here.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await response.json()) as T
}

type Asking = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

/** The raw answer, for streams and files; a refusal is an error with the service's own sentence. */
export async function asked(path: string, options: Asking = {}): Promise<Response> {
  const token = path === '/session' ? null : localStorage.getItem(TOKEN)
  const response = await fetch(`/v1/portal${path}`, {
    ...options,
    headers: { ...options.headers, ...(token && { authorization: `Bearer ${token}` }) },
  })
  if (response.ok) return response
  if (response.status === 401) throw new Error('expired')
  const told: unknown = await response.json().catch(() => null)
  const sentence = typeof told === 'object' && told !== null && 'error' in told ? String(told.error) : null
  throw new Error(sentence ?? `the service answered ${response.status}`)
}
