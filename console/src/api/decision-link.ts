import { queryOptions } from '@tanstack/react-query'
import type { ReadFile } from './file-queries.ts'
import { callOperation, fetchResponse } from './http.ts'
import { ApiError } from './request.ts'
import type { Schemas } from './types.ts'

/** The API of the decision page. The token of the mail is the credential; a signed-in session plays no part. */
export type LinkedApproval = Schemas.LinkedApproval
export type LinkDecision = Schemas.DecideLinkedApprovalRequest
export type LinkOutcome = Schemas.ApproveResult

/** The token is in the fragment of the URL, which browsers do not send to servers. */
export const decisionToken = (): string => location.hash.slice(1)

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, allProjects: true })

const POLL_MS = 5_000
/** The page shows the outcome soon after the seconds of undo are over. */
const HELD_POLL_MS = 1_000

/** Asking again cannot help: the link is used, expired or not valid. */
export const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status < 500

/** Reading does not use up the token, because mail scanners open links. */
export const linkedApprovalQuery = (token: string) =>
  queryOptions({
    queryKey: ['decision-link', token],
    queryFn: ({ signal }) => callOperation('getLinkedApproval', {}, { ...bearer(token), signal }),
    // Another member may decide while the page is open.
    refetchInterval: ({ state }) => {
      if (isRefused(state.error)) return false
      return state.data?.approval.held ? HELD_POLL_MS : POLL_MS
    },
  })

/** What has become of the request of a link that is gone. */
export interface GoneLink {
  status: string
  approved_by_you: boolean
  votes: number
  needed: number
}

/** Null: the service does not know the request any more, or the error is another one. */
export function goneLink(error: unknown): GoneLink | null {
  if (!(error instanceof ApiError) || error.status !== 410) return null
  const body = error.body as Partial<GoneLink>
  const { status, approved_by_you, votes = 0, needed = 1 } = body
  return status === undefined || approved_by_you === undefined ? null : { status, approved_by_you, votes, needed }
}

/** The files that the approval shows. */
export const readLinkedFile =
  (token: string): ReadFile =>
  ({ id }, options) =>
    fetchResponse(`/v1/decide/files/${id}`, { ...bearer(token), ...options })

export const decideWithLink = (token: string, body: LinkDecision): Promise<LinkOutcome> =>
  callOperation('decideLinkedApproval', { body }, bearer(token))

/** Withdraws the approval of the link's member, which is held. */
export const withdrawWithLink = (token: string): Promise<unknown> =>
  callOperation('withdrawLinkedApproval', {}, bearer(token))
