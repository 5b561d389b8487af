import { bearerToken } from '../accounts/authenticate.ts'
import { findDecidingMember } from '../approvals/approver-rows.ts'
import { readApprovalDetail } from '../approvals/read-detail.ts'
import { findApprovalUnscoped } from '../approvals/rows.ts'
import { forbidden, notFound, Problem, unauthorized } from '../base/problem.ts'
import { TOKEN_PREFIX, tokenHash } from '../base/tokens.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { findFile } from '../files/rows.ts'
import type { RequestHead } from '../http/route.ts'
import type { DecisionLinkRow, FileRow } from '../store/tables.ts'
import { readCard } from './card.ts'
import { decideAsMember, type MemberDecision } from './decide-as-member.ts'
import { findDecisionLink, updateDecisionLinkUsed } from './decision-link-rows.ts'

/** The link whose token the request has. Finding it changes nothing, because programs that check mails open every link. */
export async function requireDecisionLink(ctx: Ctx, request: RequestHead): Promise<DecisionLinkRow> {
  const token = bearerToken(request)
  const [link] = token.startsWith(TOKEN_PREFIX.decisionLink)
    ? await findDecisionLink(ctx.db, { hash: tokenHash(token) })
    : []
  if (!link) throw unauthorized()
  if (link.used_at !== null) throw linkGone('this link was used already')
  return link
}

const linkGone = (sentence: string) => new Problem(410, sentence)

/** The approval of a link, with everything that its member needs to decide. 410 once there is nothing left to decide. */
export async function readLinkedApproval(ctx: Ctx, { approval_id, member_id, project_id }: DecisionLinkRow) {
  const [member] = await findDecidingMember(ctx.db, { id: member_id, project_id })
  if (!member) throw forbidden('you are not a member any more')
  const [approval] = await findApprovalUnscoped(ctx.db, { id: approval_id })
  if (!approval) throw linkGone('the request does not exist any more')
  const { outcome } = await readCard(ctx, approval)
  if (outcome !== null) throw linkGone(`the request is decided: ${outcome}`)
  if ((approval.expires_at ?? '') <= isoNow(ctx)) throw linkGone('the request has expired')
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

/** Decides as the member of the link, and uses it up in the same transaction. */
export async function decideWithLink(
  ctx: Ctx,
  link: DecisionLinkRow,
  choice: Pick<MemberDecision, 'decision' | 'edited' | 'payloadSha256' | 'note' | 'reason'>,
) {
  await readLinkedApproval(ctx, link)
  const { hash, project_id: projectId, member_id: memberId, approval_id: approvalId } = link
  return decideAsMember(ctx, {
    ...choice,
    projectId,
    memberId,
    approvalId,
    async useCredential(tx) {
      const [used] = await updateDecisionLinkUsed(tx.db, { hash, now: isoNow(tx) })
      if (!used) throw linkGone('this link was used already')
    },
  })
}
