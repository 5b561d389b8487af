import type { Json } from '../api/types.ts'
import type { AskedQuestion } from '../ui/question-form.tsx'
import { portalText } from './text.ts'

/** The API of the client portal. The token is sent in a header only; the token of a link is in the fragment of its URL. */
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

export interface PortalQuestion extends AskedQuestion {
  id: string
  task_id: string
  thread_id: string | null
}

export interface PortalCase {
  id: string
  title: string | null
  stage: string
  status: string
  updated_at: string
}

/** The message of the error for a session or link that is no longer valid. */
export const SESSION_EXPIRED = 'expired'

const TOKEN = 'svc.portal.token'

export const linkToken = (): string => decodeURIComponent(location.hash.slice(1))

/** Called after a click only, because mail scanners open links and would use up the token. */
export async function openSession(token: string): Promise<PortalClient> {
  const opened = await callPortal<{ session_token: string; client: PortalClient }>('/session', { token })
  localStorage.setItem(TOKEN, opened.session_token)
  history.replaceState(null, '', '/portal')
  return opened.client
}

/** Null without a valid session. */
export async function currentClient(): Promise<PortalClient | null> {
  if (localStorage.getItem(TOKEN) === null) return null
  return callPortal<PortalClient>('/me').catch(() => (localStorage.removeItem(TOKEN), null))
}

export const listThreads = (): Promise<PortalThread[]> =>
  callPortal<{ data: PortalThread[] }>('/threads').then(({ data }) => data)

export const listCases = (): Promise<PortalCase[]> =>
  callPortal<{ data: PortalCase[] }>('/cases').then(({ data }) => data)

/** The questions that wait for an answer of the client, oldest first. */
export const listQuestions = (): Promise<PortalQuestion[]> =>
  callPortal<{ data: PortalQuestion[] }>('/questions').then(({ data }) => data.toReversed())

export const answerQuestion = (id: string, answer: Json): Promise<unknown> =>
  callPortal(`/questions/${encodeURIComponent(id)}/answer`, { answer })

export const declineQuestion = (id: string): Promise<unknown> =>
  callPortal(`/questions/${encodeURIComponent(id)}/decline`, {})

export const getThread = (id: string): Promise<PortalThread & { messages: PortalMessage[] }> =>
  callPortal(`/threads/${encodeURIComponent(id)}`)

export const sendMessage = (id: string, body: string): Promise<PortalMessage> =>
  callPortal(`/threads/${encodeURIComponent(id)}/messages`, { body })

async function callPortal<T>(path: string, body?: object): Promise<T> {
  const response = await fetchPortal(path, {
    ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  // The response type is not checked at run time.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await response.json()) as T
}

type PortalRequest = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

/** The raw response, for streams and files. An error response throws an error with the message of the server. */
export async function fetchPortal(path: string, options: PortalRequest = {}): Promise<Response> {
  const token = path === '/session' ? null : localStorage.getItem(TOKEN)
  const response = await fetch(`/v1/portal${path}`, {
    ...options,
    headers: { ...options.headers, ...(token && { authorization: `Bearer ${token}` }) },
  })
  if (response.ok) return response
  if (response.status === 401) throw new Error(SESSION_EXPIRED)
  const body: unknown = await response.json().catch(() => null)
  const message = typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : null
  throw new Error(message ?? portalText.unexpectedStatus(response.status))
}
