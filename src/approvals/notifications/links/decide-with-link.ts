import { bearerToken } from '../../../identity/authentication/authenticate.ts'
import { findApproverMember } from '../../people/approver-rows.ts'
import { listCurrentVotes } from '../../people/current-votes.ts'
import { withdrawHeldApproval } from '../../decisions/hold-approval.ts'
import { readApprovalDetail } from '../../decisions/read-detail.ts'
import { findApprovalUnscoped } from '../../requests/rows.ts'
import type { Decision, DecisionOutcome } from '../../decisions/apply-decision.ts'
import { forbidden, notFound, unauthorized } from '../../../platform/base/problem.ts'
import { TOKEN_PREFIX, tokenHash } from '../../../platform/base/tokens.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { isoNow } from '../../../platform/ctx/world.ts'
import { findFile } from '../../../work/files/rows.ts'
import type { RequestHead } from '../../../platform/http/route.ts'
import type { DecisionLinkRow, FileRow } from '../../../platform/store/tables.ts'
import { readCard } from '../card.ts'
import { decideAsMember } from './decide-as-member.ts'
import { findDecisionLink } from './decision-link-rows.ts'
import { linkGone, requireMailLink, useDecisionLink } from './use-decision-link.ts'

/** The link whose token the request has. Finding it changes nothing, because programs that check mails open every link. */
export async function requireDecisionLink(ctx: Ctx, request: RequestHead): Promise<DecisionLinkRow> {
  const token = bearerToken(request)
  const [link] = token.startsWith(TOKEN_PREFIX.decisionLink)
    ? await findDecisionLink(ctx.db, { hash: tokenHash(token) })
    : []
  if (!link) throw unauthorized()
  return link
}

/** The status of the request, whether the member has approved it, and how many people have. */
async function readMade({ db }: Ctx, { approval_id, member_id }: DecisionLinkRow) {
  const [row] = await findApprovalUnscoped(db, { id: approval_id })
  if (!row) return {}
  const { status, needed, decided_by_id } = row
  const votes = needed > 1 ? await listCurrentVotes(db, [approval_id]) : []
  const isVoter = votes.some(({ voter_id }) => voter_id === member_id)
  const approved_by_you = isVoter || (status === 'approved' && decided_by_id === member_id)
  return { status, approved_by_you, votes: votes.length, needed }
}

/** The approval of a link, with everything that its member needs to decide. 410 once there is nothing left to decide. */
export async function readLinkedApproval(ctx: Ctx, link: DecisionLinkRow) {
  const { approval, member } = await requireOpenApproval(ctx, link)
  const { id, name, email } = member
  return { approval: await readApprovalDetail(ctx, approval), member: { id, name, email } }
}

/** A file that the approval of a link shows: of its payload or its task. */
export async function findLinkedFile(ctx: Ctx, link: DecisionLinkRow, id: string): Promise<FileRow> {
  const { approval } = await readLinkedApproval(ctx, link)
  const isShown = approval.files.some((file) => file.id === id)
  const file = isShown ? await findFile(ctx.db, [link.project_id], id) : undefined
  if (!file) throw notFound('file')
  return file
}

async function requireOpenApproval(ctx: Ctx, link: DecisionLinkRow) {
  const [member] = await findApproverMember(ctx.db, { id: link.member_id, project_id: link.project_id })
  if (!member) throw forbidden('you are not a member any more')
  await requireMailLink(ctx, link)
  const [approval] = await findApprovalUnscoped(ctx.db, { id: link.approval_id })
  if (!approval) throw linkGone('the request does not exist any more')
  const { outcome } = await readCard(ctx, approval)
  if (outcome !== null) throw linkGone(`the request is decided: ${outcome}`, await readMade(ctx, link))
  if (link.used_at !== null) throw linkGone('this link was used already', await readMade(ctx, link))
  if (approval.held === null && (approval.expires_at ?? '') <= isoNow(ctx)) throw linkGone('the request has expired')
  return { approval, member }
}

/** Decides as the member of the link, and uses it up in the same transaction; for a held approval, when it is made. */
export async function decideWithLink(ctx: Ctx, link: DecisionLinkRow, decision: Decision): Promise<DecisionOutcome> {
  await requireOpenApproval(ctx, link)
  return decideAsMember(ctx, link, decision, {
    linkHash: link.hash,
    useCredential: (tx) => useDecisionLink(tx, link.hash, isoNow(tx)),
  })
}

/** Withdraws the approval that the member of the link has made, also one that was made elsewhere. */
export async function withdrawWithLink(ctx: Ctx, link: DecisionLinkRow): Promise<void> {
  const { approval, member } = await requireOpenApproval(ctx, link)
  await withdrawHeldApproval(ctx, { kind: 'member', id: member.id }, approval)
}
