import { idempotencyKeyOf } from '../api/idempotency-key.ts'
import type { Json, Schemas } from '../api/types.ts'
import type { AskedQuestion } from '../ui/question-form.tsx'
import { threadInUrl } from './portal-path.ts'

/** The API of the client portal. The token is sent in a header only; the token of a link is in the fragment of its URL. */
export type PortalClient = Schemas['PortalMe']
export type PortalBrand = Schemas['PublicBrand']
export type PortalThread = Schemas['PortalThreadSummary']
export type PortalMessage = Schemas['PortalMessage']
export type PortalFile = Schemas['File']
export type PortalCase = Schemas['PortalCase']
export type PortalConnection = Schemas['PortalConnection']
export type PortalApproval = Schemas['PortalApproval'] & { payload: Json }
export type WholeThread = PortalThread & { messages: PortalMessage[] }

export interface PortalQuestion extends AskedQuestion {
  id: string
  task_id: string
  thread_id: string | null
}

/** An error response. The texts of the server are for developers, so the portal shows its own text for the status. */
export class PortalError extends Error {
  readonly status: number
  constructor(status: number) {
    super(`status ${status}`)
    this.status = status
  }
}

const TOKEN = 'svc.portal.token'

/** The token of a sign-in link, or of an unsubscribe link. */
export const tokenInUrl = (): string => location.hash.slice(1)

export const fetchBrand = (project: string | null): Promise<PortalBrand> =>
  callPortal(`/brand${project === null ? '' : `?project=${encodeURIComponent(project)}`}`)

/** Called after a click only, because mail scanners open links and would use up the token. */
export async function openSession(token: string): Promise<void> {
  const opened = await callPortal<{ session_token: string }>('/session', { token })
  localStorage.setItem(TOKEN, opened.session_token)
}

/** Null without a valid session. */
export async function currentClient(): Promise<PortalClient | null> {
  if (localStorage.getItem(TOKEN) === null) return null
  return callPortal<PortalClient>('/me').catch(() => (localStorage.removeItem(TOKEN), null))
}

/** The session ends on this device also if the service cannot be reached. */
export async function signOut(everywhere: boolean): Promise<void> {
  await callPortal('/sign-out', { everywhere }).catch(() => {})
  localStorage.removeItem(TOKEN)
}

/** The link opens the conversation of this page. */
export const requestLink = (email: string, project: string | null): Promise<unknown> =>
  callPortal('/links', { email, ...(project !== null && { project }), ...threadInUrl() })

export const createDeviceLink = (): Promise<{ url: string }> => callPortal('/device-link', {})

export const setNotices = (enabled: boolean): Promise<unknown> => callPortal('/notices', { enabled })

/** Not found: the token was never valid or is too old. */
export const unsubscribe = (token: string): Promise<{ found: boolean }> =>
  callPortal(`/unsubscribe/${encodeURIComponent(token)}`, {})

export const listThreads = (): Promise<PortalThread[]> =>
  callPortal<{ data: PortalThread[] }>('/threads').then(({ data }) =>
    data.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1)),
  )

export const listCases = (): Promise<PortalCase[]> =>
  callPortal<{ data: PortalCase[] }>('/cases').then(({ data }) => data)

export const listConnections = (): Promise<PortalConnection[]> =>
  callPortal<{ data: PortalConnection[] }>('/connections').then(({ data }) => data)

export const startConnection = (id: string): Promise<{ authorize_url: string }> =>
  callPortal(`/connections/${encodeURIComponent(id)}/oauth/start`, {})

/** The questions that wait for an answer of the client, oldest first. */
export const listQuestions = (): Promise<PortalQuestion[]> =>
  callPortal<{ data: PortalQuestion[] }>('/questions').then(({ data }) => data.toReversed())

export const answerQuestion = (id: string, answer: Json): Promise<unknown> =>
  callPortal(`/questions/${encodeURIComponent(id)}/answer`, { answer })

export const declineQuestion = (id: string): Promise<unknown> =>
  callPortal(`/questions/${encodeURIComponent(id)}/decline`, {})

const RECENT_APPROVALS = 10

/** What waits for the approval of the client, and what was decided last, oldest first. */
export async function listApprovals(): Promise<PortalApproval[]> {
  const [pending, recent] = await Promise.all([
    callPortal<{ data: PortalApproval[] }>('/approvals?status=pending'),
    callPortal<{ data: PortalApproval[] }>(`/approvals?limit=${RECENT_APPROVALS}`),
  ])
  const byId = new Map([...pending.data, ...recent.data].map((approval) => [approval.id, approval]))
  return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** The hash says what the client has read: an approval of anything else is refused. */
export const approve = ({ id, payload_sha256 }: PortalApproval): Promise<unknown> =>
  callPortal(`/approvals/${encodeURIComponent(id)}/approve`, { payload_sha256 })

export const decline = (id: string, reason: string): Promise<unknown> =>
  callPortal(`/approvals/${encodeURIComponent(id)}/reject`, reason.trim() === '' ? {} : { reason })

export const getThread = (id: string): Promise<WholeThread> => callPortal(`/threads/${encodeURIComponent(id)}`)

export const markRead = (id: string): Promise<unknown> => callPortal(`/threads/${encodeURIComponent(id)}/read`, {})

export interface NewMessage {
  body: string
  files: string[]
  idempotencyKey: string
}

export const sendMessage = (id: string, message: NewMessage): Promise<PortalMessage> =>
  postMessage(`/threads/${encodeURIComponent(id)}/messages`, message)

export const startConversation = (message: NewMessage & { subject: string }): Promise<WholeThread> =>
  postMessage('/threads', message)

const postMessage = <T>(path: string, { idempotencyKey, ...body }: NewMessage): Promise<T> =>
  callPortal(path, body, { 'idempotency-key': idempotencyKeyOf(idempotencyKey, body) })

export async function uploadFile(file: File): Promise<PortalFile> {
  const headers = { 'content-type': file.type || 'application/octet-stream' }
  const path = `/files?name=${encodeURIComponent(file.name)}`
  return readJson(await fetchPortal(path, { method: 'POST', body: file, headers }))
}

export const fetchFile = (id: string): Promise<Response> => fetchPortal(`/files/${encodeURIComponent(id)}`)

async function callPortal<T>(path: string, body?: object, headers: Record<string, string> = {}): Promise<T> {
  const sent = { 'content-type': 'application/json', ...headers }
  return readJson(
    await fetchPortal(path, { ...(body && { method: 'POST', body: JSON.stringify(body), headers: sent }) }),
  )
}

/** The response type is not checked at run time. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const readJson = async <T>(response: Response): Promise<T> => (await response.json()) as T

type PortalRequest = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

const OPEN_PATH = /^\/(?:brand|session|links|unsubscribe)\b/

/** The raw response, for streams and files. An error response throws a `PortalError`. */
export async function fetchPortal(path: string, options: PortalRequest = {}): Promise<Response> {
  const token = OPEN_PATH.test(path) ? null : localStorage.getItem(TOKEN)
  const response = await fetch(`/v1/portal${path}`, {
    ...options,
    headers: { ...options.headers, ...(token && { authorization: `Bearer ${token}` }) },
  })
  if (response.status === 401 && token) endLocalSession()
  if (!response.ok) throw new PortalError(response.status)
  return response
}

/** Fired at the window when the service refuses the session, whichever request found out. */
export const SESSION_ENDED = 'portal-session-ended'

function endLocalSession(): void {
  localStorage.removeItem(TOKEN)
  window.dispatchEvent(new Event(SESSION_ENDED))
}

export const isSessionExpired = (error: unknown): boolean => error instanceof PortalError && error.status === 401
