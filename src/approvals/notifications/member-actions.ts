import { findApproverMember } from '../people/approver-rows.ts'
import { isApprover } from '../people/approvers.ts'
import { alreadyDecided } from '../people/cast-vote.ts'
import { buttonHoldS } from '../requests/held-approval.ts'
import { withdrawHeldApproval } from '../decisions/hold-approval.ts'
import { findApproval } from '../requests/rows.ts'
import { approvedPayload } from '../requests/view.ts'
import { conflict, forbidden, notFound, Problem } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { ApprovalRow, NotifierRow } from '../../platform/store/tables.ts'
import { type ApprovalReference, isSamePayload } from './approval-reference.ts'
import { readCard } from './card.ts'
import { decideAsMember } from './links/decide-as-member.ts'
import { listEditFields, toEdited } from './edit-fields.ts'
import { findLinkByAddress } from './links/link-rows.ts'
import { completeLink } from './links/links.ts'
import type { DecideEvent, LinkEvent, NotifierEvent, Respond, ShowEvent, UndoEvent } from './notifier.ts'

/** What the person reads; null if the service has shown something already. */
type Reaction = { kind: Parameters<Respond>[0]; text: string } | null

/** Does what a person asked for in a chat, and reports the outcome to the person. */
export async function handleNotifierEvent(ctx: Ctx, notifier: NotifierRow, event: NotifierEvent): Promise<void> {
  const reaction = await react(ctx, notifier, event).catch(toRefusal)
  if (!reaction) return
  await event.respond(reaction.kind, reaction.text).catch((err: unknown) => {
    // The decision is made, so the service must not deliver the call again.
    ctx.world.log.warn({ err, notifier: notifier.id }, 'could not report the outcome of a decision to the member')
  })
}

function react(ctx: Ctx, notifier: NotifierRow, event: NotifierEvent): Promise<Reaction> {
  if (event.type === 'link') return linkAccount(ctx, notifier, event)
  if (event.type === 'show') return showForm(ctx, notifier, event)
  return event.type === 'undo' ? undo(ctx, notifier, event) : decide(ctx, notifier, event)
}

/** Errors of the service itself go on, so that the provider delivers the call again. */
function toRefusal(error: unknown): Reaction {
  if (!(error instanceof Problem) || error.status >= 500) throw error
  return { kind: 'refused', text: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.` }
}

async function linkAccount(ctx: Ctx, notifier: NotifierRow, { code, address }: LinkEvent): Promise<Reaction> {
  // Phones begin a message with a capital letter.
  const member = await completeLink(ctx, notifier, code.toLowerCase(), address)
  // The name shows a person who was given the code of another member what went wrong.
  return member
    ? {
        kind: 'noted',
        text: `This account is linked to ${member.email}. Requests that need your decision arrive here.`,
      }
    : { kind: 'refused', text: 'This code is not valid. Get a new one in the console: Settings, Notifications.' }
}

async function showForm(ctx: Ctx, notifier: NotifierRow, event: ShowEvent): Promise<Reaction> {
  const { row, member } = await findRequest(ctx, notifier, event)
  if (!isApprover(row, member)) throw forbidden('you are not an approver of this request')
  // Before a person types: the decision would be refused.
  if (row.held_until !== null) throw await alreadyDecided(ctx, row.id, { kind: 'member', id: member.id })
  const card = await readCard(ctx, row)
  try {
    await event.show(card, listEditFields(row.path, approvedPayload(row)))
    return null
  } catch (err) {
    ctx.world.log.warn({ err, approval: row.id }, 'a form for a decision was not shown')
    return { kind: 'refused', text: 'The form could not be opened. Try again, or decide in the console.' }
  }
}

async function decide(ctx: Ctx, notifier: NotifierRow, event: DecideEvent): Promise<Reaction> {
  const { row, member } = await findRequest(ctx, notifier, event)
  const { decision, reason, inputs } = event
  const edited = toEdited(listEditFields(row.path, approvedPayload(row)), inputs)
  const outcome = await decideAsMember(
    ctx,
    { project_id: row.project_id, member_id: member.id, approval_id: row.id },
    {
      decision,
      edited: Object.keys(edited).length > 0 ? edited : null,
      payload_sha256: row.payload_sha256,
      ...(decision === 'revise' ? { note: reason } : { reason }),
      ...(decision === 'approve' && { hold_s: buttonHoldS(row) }),
    },
  )
  if (outcome.decision === 'held') return { kind: 'done', text: `Sending in ${buttonHoldS(row)} s` }
  if (outcome.decision === 'pending')
    return { kind: 'noted', text: `Your approval counts: ${outcome.votes} of ${outcome.needed}.` }
  return { kind: 'done', text: DONE_TEXTS[decision] }
}

async function undo(ctx: Ctx, notifier: NotifierRow, event: UndoEvent): Promise<Reaction> {
  const { row, member } = await findRequest(ctx, notifier, event)
  await withdrawHeldApproval(ctx, { kind: 'member', id: member.id }, row)
  return { kind: 'done', text: 'Approval withdrawn' }
}

const DONE_TEXTS = { approve: 'Approved', reject: 'Rejected', revise: 'Sent back' }

/**
 * The request that a person saw, and the member who has linked the account. The decision itself checks the current role,
 * the approvers and the status once more, in its transaction.
 */
async function findRequest(
  ctx: Ctx,
  { project_id, kind }: NotifierRow,
  { address, reference }: { address: string; reference: ApprovalReference },
) {
  const [link] = await findLinkByAddress(ctx.db, { project_id, kind, address })
  const [member] = link ? await findApproverMember(ctx.db, { id: link.member_id, project_id }) : []
  if (!member) throw forbidden('this account is not linked to a member of the team')
  const row = await findApproval(ctx.db, [project_id], reference.approvalId)
  if (!row) throw notFound('approval')
  requireUnchanged(row, reference)
  return { row, member }
}

function requireUnchanged({ status, payload_sha256 }: ApprovalRow, reference: ApprovalReference): void {
  if (status !== 'pending') throw conflict(`approval already decided (${status})`)
  if (!isSamePayload(reference, payload_sha256))
    throw conflict('another person has changed the request since this message: read it again')
}
