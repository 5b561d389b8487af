import { z } from 'zod'
import type { JsonObject } from '../../platform/base/json.ts'
import type { NamedActor } from '../../identity/organisations/actor-name-rows.ts'
import { FileView } from '../files/view.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import type { CaseHistoryRow, CaseRow } from '../../platform/store/tables.ts'
import { MAX_SHOWN_PER_CASE } from './rows.ts'

export const CASE_STATUSES = ['open', 'closed'] as const
type CaseStatus = (typeof CASE_STATUSES)[number]

const CaseHistoryEntryView = z
  .object({
    from: z.string().nullable(),
    to: z.string(),
    at: z.string(),
    by: z.object({
      kind: z.string(),
      id: z.string(),
      name: z.string().nullable().meta({ description: 'The name of the member or API key; null for others.' }),
    }),
    note: z.string().nullable(),
  })
  .meta({ id: 'CaseHistoryEntry' })

export const CaseView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    wedge: z.string(),
    title: z.string().nullable(),
    stage: z.string(),
    status: z.enum(CASE_STATUSES),
    client_id: z.string().nullable(),
    thread_id: z.string().nullable().meta({ description: 'The conversation that the case is about.' }),
    assignee: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .meta({ description: 'The member who takes care of the case.' }),
    data: jsonObject,
    history: z.array(CaseHistoryEntryView).meta({ description: `The newest ${MAX_SHOWN_PER_CASE}, oldest first.` }),
    task_ids: z.array(z.string()).meta({ description: `The newest ${MAX_SHOWN_PER_CASE}, newest first.` }),
    created_at: z.string(),
    updated_at: z.string(),
    closed_at: z.string().nullable(),
  })
  .meta({ id: 'Case' })

export const CaseFilesView = z.object({ data: z.array(FileView) })

export type CaseView = z.infer<typeof CaseView>

export interface CaseParts {
  history: readonly CaseHistoryRow[]
  taskIds: readonly string[]
  nameOf: (kind: string, id: string | null) => NamedActor | null
}

export function toCaseView(row: CaseRow, { history, taskIds, nameOf }: CaseParts): CaseView {
  const assignee = nameOf('member', row.assignee_id)
  return {
    id: row.id,
    project_id: row.project_id,
    wedge: row.wedge,
    title: row.title,
    stage: row.stage,
    status: row.status as CaseStatus,
    client_id: row.client_id,
    thread_id: row.thread_id,
    // Null after the member was removed.
    assignee: assignee?.name ? { id: assignee.id, name: assignee.name } : null,
    data: JSON.parse(row.data) as JsonObject,
    history: history.map((entry) => ({
      from: entry.from_stage,
      to: entry.to_stage,
      at: entry.at,
      by: { kind: entry.by_kind, id: entry.by_id, name: nameOf(entry.by_kind, entry.by_id)?.name ?? null },
      note: entry.note,
    })),
    task_ids: [...taskIds],
    created_at: row.created_at,
    updated_at: row.updated_at,
    closed_at: row.closed_at,
  }
}
