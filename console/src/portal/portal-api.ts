/** The client's session. Its token is sent as a header only; the link's token stands behind the `#` until it is used. */
export interface PortalClient {
  id: string
  display_name: string | null
}

export interface PortalThread {
  id: string
  subject: string | null
  status: string
  updated_at: string
}

export interface PortalMessage {
  id: string
  direction: 'inbound' | 'outbound'
  body: string
  task_id: string | null
  created_at: string
}

export interface PortalCase {
  id: string
  title: string | null
  stage: string
  status: string
  updated_at: string
}

const TOKEN = 'svc.portal.token'

export const linkToken = (): string => decodeURIComponent(location.hash.slice(1))

/** Exchanged by a click, so that who only looks at the link, as mail scanners do, does not use it up. */
export async function openSession(token: string): Promise<PortalClient> {
  const opened = await callPortal<{ session_token: string; client: PortalClient }>('/session', { token })
  localStorage.setItem(TOKEN, opened.session_token)
  history.replaceState(null, '', '/portal')
  return opened.client
}

/** Null when nobody is signed in, or not any more. */
export async function currentClient(): Promise<PortalClient | null> {
  if (localStorage.getItem(TOKEN) === null) return null
  return callPortal<PortalClient>('/me').catch(() => (localStorage.removeItem(TOKEN), null))
}

export const listThreads = (): Promise<PortalThread[]> =>
  callPortal<{ data: PortalThread[] }>('/threads').then(({ data }) => data)

export const listCases = (): Promise<PortalCase[]> =>
  callPortal<{ data: PortalCase[] }>('/cases').then(({ data }) => data)

export const getThread = (id: string): Promise<PortalThread & { messages: PortalMessage[] }> =>
  callPortal(`/threads/${encodeURIComponent(id)}`)

export const sendMessage = (id: string, body: string): Promise<PortalMessage> =>
  callPortal(`/threads/${encodeURIComponent(id)}/messages`, { body })

async function callPortal<T>(path: string, body?: object): Promise<T> {
  const response = await fetchPortal(path, {
    ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  // The contract's types are promised by the service, not proven here.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await response.json()) as T
}

type PortalRequest = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

/** The raw answer, for streams and files; a refusal is an error with the service's own sentence. */
export async function fetchPortal(path: string, options: PortalRequest = {}): Promise<Response> {
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
