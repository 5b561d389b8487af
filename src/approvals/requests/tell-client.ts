import { findBrand, type Language } from '../../customers/brand/rows.ts'
import { appendNotice } from '../../customers/threads/reply.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { describeForClient } from './client-text.ts'
import type { GatedRun } from '../policy/gated-request.ts'

const HINTS: Record<Language, string> = {
  en: 'You can approve or decline it in the portal.',
  de: 'Im Portal können Sie zustimmen oder ablehnen.',
  fr: 'Vous pouvez accepter ou refuser dans le portail.',
  es: 'Puede aprobar o rechazar en el portal.',
}

/** Says in the thread of the task that the client must decide. A client who does not read it there gets a mail. */
export async function tellClient(tx: Tx, { task }: GatedRun, row: ApprovalRow): Promise<void> {
  if (row.path === 'question' || row.client_id === null || task.thread_id === null) return
  const { language } = await findBrand(tx.db, row.project_id)
  await appendNotice(tx, task, `${describeForClient(row, language).title}. ${HINTS[language]}`)
}
