import type { WedgeManifest } from './wedge-manifest.ts'

type DeclaredApproval = WedgeManifest['approvals'][number]

/** Thirty days. `SVC_APPROVAL_TTL_MAX_S` changes it. */
export const DEFAULT_APPROVAL_TTL_MAX_S = 2_592_000

/** Seven days. */
export const DEFAULT_REPLY_TTL_S = 604_800

/**
 * The entries of `approvals` that describe an action: those with its whole name, else those with a part of it. A reply also
 * has the entries of the steps in whose place it is approved.
 */
export function matchApprovals({ approvals }: Pick<WedgeManifest, 'approvals'>, action: string): DeclaredApproval[] {
  const name = action.toLowerCase()
  const exact = approvals.filter((declared) => declared.action.toLowerCase() === name)
  const matches =
    exact.length > 0 ? exact : approvals.filter((declared) => name.includes(declared.action.toLowerCase()))
  if (!/(^|:)reply$/.test(name)) return matches
  return approvals.filter((declared) => matches.includes(declared) || describesReply(declared, name))
}

/** Where replies are only shown. Their action is `<place>:reply`, so no connection may have one of these names. */
const REPLY_PLACES = ['widget', 'portal']

export const isReplyPlace = (name: string): boolean => REPLY_PLACES.includes(name.toLowerCase())

/** The action of a reply that is shown in its thread because no channel can send it. */
export const SHOWN_REPLY = 'reply'

/** Whether the action, in lower case, is a reply that uses no connection. */
export const isShownReply = (action: string): boolean =>
  action === SHOWN_REPLY || REPLY_PLACES.some((place) => action === `${place}:reply`)

/** An entry for `<connection>:reply` counts for shown replies too, so that these do not need fewer people than sent ones. */
function describesReply({ action, is_reply }: DeclaredApproval, reply: string): boolean {
  return is_reply || (isShownReply(reply) && action.toLowerCase().endsWith(':reply'))
}

/** The steps in which the reply to the client is approved, where the reply itself needs no approval. */
export const listReplySteps = ({ approvals }: Pick<WedgeManifest, 'approvals'>): string[] =>
  approvals.filter(({ is_reply }) => is_reply).map(({ action }) => action.toLowerCase())

/**
 * Whether replies to clients need an approval on every channel, also where they are only shown in the thread. Only the
 * exact name counts: `mail` or `post:reply` are declared for the tools of a connection.
 */
export const requiresReplyApproval = ({ approvals }: Pick<WedgeManifest, 'approvals'>): boolean =>
  approvals.some(({ action, required }) => required && action.toLowerCase() === 'reply')

/** How long an approval of the action waits for a decision. The shortest time of equal matches counts. */
export function approvalTtlS(manifest: Pick<WedgeManifest, 'approvals'>, action: string, defaultS: number): number {
  const matches = matchApprovals(manifest, action)
  return matches.length === 0 ? defaultS : Math.min(...matches.map(({ ttl_s }) => ttl_s ?? defaultS))
}

/** Who decides about an action, as the wedge declares it. */
export interface DeclaredApprovers {
  needed: number
  /** Roles and members; null: everyone whose role allows decisions. */
  approvers: string[] | null
  excludesRequester: boolean
  escalate: EscalationStep[]
}

export type EscalationStep = DeclaredApproval['escalate'][number]

/** Of equal matches the strictest counts: the most people, any exclusion, and the first list of approvers and of steps. */
export function declaredApprovers(manifest: Pick<WedgeManifest, 'approvals'>, action: string): DeclaredApprovers {
  const matches = matchApprovals(manifest, action)
  const escalate = matches.find((declared) => declared.escalate.length > 0)?.escalate ?? []
  return {
    needed: Math.max(1, ...matches.map(({ needed }) => needed)),
    approvers: matches.find(({ approvers }) => approvers !== undefined)?.approvers ?? null,
    excludesRequester: matches.some(({ exclude_requester }) => exclude_requester),
    escalate: escalate.toSorted((a, b) => a.after_s - b.after_s),
  }
}

/** The entries whose `ttl_s` is longer than the deployment allows: the path in the manifest, and what is wrong. */
export function findLongApprovals({ approvals }: Pick<WedgeManifest, 'approvals'>, maxS: number) {
  return approvals.flatMap(({ ttl_s }, index) =>
    ttl_s === undefined || ttl_s <= maxS
      ? []
      : [{ path: ['approvals', index, 'ttl_s'], message: `is ${ttl_s}, but SVC_APPROVAL_TTL_MAX_S is ${maxS}` }],
  )
}
