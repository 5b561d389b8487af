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

async function portal<T>(path: string, body?: object): Promise<T> {
  const token = localStorage.getItem(TOKEN)
  const response = await fetch(`/v1/portal${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(!body && token && { authorization: `Bearer ${token}` }),
    },
  })
  if (!response.ok) throw new Error(response.status === 401 ? 'expired' : `the service answered ${response.status}`)
  // The contract's types are promised by the service, not proven here.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await response.json()) as T
}
