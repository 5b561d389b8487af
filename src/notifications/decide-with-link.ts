import { bearerToken } from '../accounts/authenticate.ts'
import { findDecidingMember } from '../approvals/approver-rows.ts'
import { readApprovalDetail } from '../approvals/read-detail.ts'
import { findApprovalUnscoped } from '../approvals/rows.ts'
import type { Decision, DecisionOutcome } from '../approvals/take-decision.ts'
import { forbidden, notFound, Problem, unauthorized } from '../base/problem.ts'
import { TOKEN_PREFIX, tokenHash } from '../base/tokens.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { findFile } from '../files/rows.ts'
import type { RequestHead } from '../http/route.ts'
import type { DecisionLinkRow, FileRow } from '../store/tables.ts'
import { readCard } from './card.ts'
import { decideAsMember } from './decide-as-member.ts'
import { findDecisionLink, updateDecisionLinkUsed } from './decision-link-rows.ts'
import { listLinksOfMember } from './link-rows.ts'

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
  const [member] = await findDecidingMember(ctx.db, { id: link.member_id, project_id: link.project_id })
  if (!member) throw forbidden('you are not a member any more')
  await requireMailLink(ctx, link)
  const [approval] = await findApprovalUnscoped(ctx.db, { id: link.approval_id })
  if (!approval) throw linkGone('the request does not exist any more')
  const { outcome } = await readCard(ctx, approval)
  if (outcome !== null) throw linkGone(`the request is decided: ${outcome}`)
  if ((approval.expires_at ?? '') <= isoNow(ctx)) throw linkGone('the request has expired')
  return { approval, member }
}

/** A member who lost control of the mailbox removes the link to it, and that must stop the mails that are in it. */
async function requireMailLink({ db }: Pick<Ctx, 'db'>, { project_id, member_id }: DecisionLinkRow): Promise<void> {
  const links = await listLinksOfMember(db, { project_id, member_id })
  if (!links.some(({ kind }) => kind === 'mail'))
    throw forbidden('you get no mails about approvals any more: decide in the console')
}

/** Decides as the member of the link, and uses it up in the same transaction. */
export async function decideWithLink(ctx: Ctx, link: DecisionLinkRow, decision: Decision): Promise<DecisionOutcome> {
  await requireOpenApproval(ctx, link)
  return decideAsMember(ctx, link, decision, {
    async useCredential(tx) {
      await requireMailLink(tx, link)
      const [used] = await updateDecisionLinkUsed(tx.db, { hash: link.hash, now: isoNow(tx) })
      if (!used) throw linkGone('this link was used already')
    },
  })
}
