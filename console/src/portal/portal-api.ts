import { idempotencyKeyOf } from '../api/idempotency-key.ts'
import { ApiError, type ApiRequest, createCallOperation, sendRequest, toApiError } from '../api/request.ts'
import type { Json, Schemas } from '../api/types.ts'
import { OPERATIONS } from './operations.ts'
import { threadInUrl } from './portal-path.ts'

/** The API of the client portal. The token is sent in a header only; the token of a link is in the fragment of its URL. */
export type PortalClient = Schemas.PortalMe
export type PortalBrand = Schemas.PublicBrand
export type PortalThread = Schemas.PortalThreadSummary
export type PortalMessage = Schemas.PortalMessage
export type PortalFile = Schemas.File
export type PortalCase = Schemas.PortalCase
export type PortalConnection = Schemas.PortalConnection
export type PortalApproval = Schemas.PortalApproval
export type PortalQuestion = Schemas.PortalQuestion
export type WholeThread = Schemas.PortalThread

const TOKEN = 'svc.portal.token'

/** Calls an operation with the session of the client. */
const callPortal = createCallOperation(OPERATIONS, fetchPortal)

/** The token of a sign-in link, or of an unsubscribe link. */
export const tokenInUrl = (): string => location.hash.slice(1)

export const fetchBrand = (project: string | null): Promise<PortalBrand> =>
  callPortal('getPublicBrand', { project: project ?? undefined })

/** Called after a click only, because mail scanners open links and would use up the token. */
export async function openSession(token: string): Promise<void> {
  const opened = await callPortal('createPortalSession', { body: { token } })
  localStorage.setItem(TOKEN, opened.session_token)
}

/** Null without a valid session. */
export async function currentClient(): Promise<PortalClient | null> {
  if (localStorage.getItem(TOKEN) === null) return null
  return callPortal('getPortalClient').catch(() => (localStorage.removeItem(TOKEN), null))
}

/** The session ends on this device also if the service cannot be reached. */
export async function signOut(everywhere: boolean): Promise<void> {
  await callPortal('endPortalSession', { body: { everywhere } }).catch(() => {})
  localStorage.removeItem(TOKEN)
}

/** The link opens the conversation of this page. */
export const requestLink = (email: string, project: string | null): Promise<unknown> =>
  callPortal('requestPortalLink', { body: { email, ...(project !== null && { project }), ...threadInUrl() } })

export const createDeviceLink = (): Promise<{ url: string }> => callPortal('createPortalDeviceLink')

export const setNotices = (enabled: boolean): Promise<unknown> => callPortal('setPortalNotices', { body: { enabled } })

/** Not found: the token was never valid or is too old. */
export async function unsubscribe(token: string): Promise<{ found: boolean }> {
  const path = `/v1/portal/unsubscribe/${encodeURIComponent(token)}`
  return (await fetchPortal(path, { method: 'POST', body: {} })).json()
}

export const listThreads = (): Promise<PortalThread[]> =>
  callPortal('listPortalThreads').then(({ data }) => data.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1)))

export const listCases = (): Promise<PortalCase[]> => callPortal('listPortalCases').then(({ data }) => data)

export const listConnections = (): Promise<PortalConnection[]> =>
  callPortal('listPortalConnections').then(({ data }) => data)

export const startConnection = (id: string): Promise<{ authorize_url: string }> =>
  callPortal('startPortalConnectionOauth', { id })

/** The questions that wait for an answer of the client, oldest first. */
export const listQuestions = (): Promise<PortalQuestion[]> =>
  callPortal('listPortalQuestions').then(({ data }) => data.toReversed())

export const answerQuestion = (id: string, answer: Json): Promise<unknown> =>
  callPortal('answerPortalQuestion', { id, body: { answer } })

export const declineQuestion = (id: string): Promise<unknown> => callPortal('declinePortalQuestion', { id })

const RECENT_APPROVALS = 10

/** What waits for the approval of the client, and what was decided last, oldest first. */
export async function listApprovals(): Promise<PortalApproval[]> {
  const [pending, recent] = await Promise.all([
    callPortal('listPortalApprovals', { status: 'pending' }),
    callPortal('listPortalApprovals', { limit: RECENT_APPROVALS }),
  ])
  const byId = new Map([...pending.data, ...recent.data].map((approval) => [approval.id, approval]))
  return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** The hash says what the client has read: an approval of anything else is refused. */
export const approve = ({ id, payload_sha256 }: PortalApproval): Promise<unknown> =>
  callPortal('approvePortalApproval', { id, body: { payload_sha256 } })

export const decline = (id: string, reason: string): Promise<unknown> =>
  callPortal('rejectPortalApproval', { id, body: reason.trim() === '' ? {} : { reason } })

export const getThread = (id: string): Promise<WholeThread> => callPortal('getPortalThread', { id })

export const markRead = (id: string): Promise<unknown> => callPortal('readPortalThread', { id })

export interface NewMessage {
  body: string
  files: string[]
  idempotencyKey: string
}

export const sendMessage = (id: string, message: NewMessage): Promise<PortalMessage> =>
  callPortal('createPortalMessage', ...withKey(message, { id }))

export const startConversation = (message: NewMessage & { subject: string }): Promise<WholeThread> =>
  callPortal('createPortalThread', ...withKey(message, {}))

/** The parameters and the header of a message that is sent again under the same key after a lost answer. */
function withKey<Body extends NewMessage, Params extends object>({ idempotencyKey, ...body }: Body, params: Params) {
  return [{ ...params, body }, { headers: { 'idempotency-key': idempotencyKeyOf(idempotencyKey, body) } }] as const
}

export async function uploadFile(file: File): Promise<PortalFile> {
  const path = `/v1/portal/files?name=${encodeURIComponent(file.name)}`
  return (await fetchPortal(path, { method: 'POST', body: file })).json()
}

export const fetchFile = (id: string): Promise<Response> => fetchPortal(`/v1/portal/files/${encodeURIComponent(id)}`)

const OPEN_PATH = /^\/v1\/portal\/(?:brand|session|links|unsubscribe)\b/

/** The raw response, for streams and files. An error response throws an ApiError. */
export async function fetchPortal(path: string, request: ApiRequest = {}): Promise<Response> {
  const token = OPEN_PATH.test(path) ? null : localStorage.getItem(TOKEN)
  const response = await sendRequest(path, request, token ? { authorization: `Bearer ${token}` } : {})
  if (response.status === 401 && token) endLocalSession()
  if (!response.ok) throw await toApiError(response)
  return response
}

/** Fired at the window when the service refuses the session, whichever request found out. */
export const SESSION_ENDED = 'portal-session-ended'

function endLocalSession(): void {
  localStorage.removeItem(TOKEN)
  window.dispatchEvent(new Event(SESSION_ENDED))
}

export const isSessionExpired = (error: unknown): boolean => error instanceof ApiError && error.status === 401
