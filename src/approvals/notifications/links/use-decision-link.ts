import { forbidden, Problem } from '../../../platform/base/problem.ts'
import type { Ctx, Tx } from '../../../platform/ctx/ctx.ts'
import type { DecisionLinkRow } from '../../../platform/store/tables.ts'
import { findDecisionLink, updateDecisionLinkUsed } from './decision-link-rows.ts'
import { listLinksOfMember } from './link-rows.ts'

/** `made` says what has become of the decision, for a page that is open meanwhile. */
export const linkGone = (sentence: string, made: Record<string, unknown> = {}) =>
  new Problem(410, sentence, { extra: made })

/** Uses up a link in the transaction of its decision, which was made at `now`. Throws if it cannot be used any more. */
export async function useDecisionLink(tx: Tx, hash: string, now: string): Promise<void> {
  const [link] = await findDecisionLink(tx.db, { hash })
  if (!link) throw linkGone('this link does not exist any more')
  await requireMailLink(tx, link)
  const [used] = await updateDecisionLinkUsed(tx.db, { hash, now })
  if (!used) throw linkGone('this link was used already')
}

/** A member who lost control of the mailbox removes the link to it, and that must stop the mails that are in it. */
export async function requireMailLink(
  { db }: Pick<Ctx, 'db'>,
  { project_id, member_id }: DecisionLinkRow,
): Promise<void> {
  const links = await listLinksOfMember(db, { project_id, member_id })
  if (!links.some(({ kind }) => kind === 'mail'))
    throw forbidden('you get no mails about approvals any more: decide in the console')
}
