import { z } from 'zod'
import { ApprovalView } from '../../approvals/requests/view.ts'
import { TaskView } from '../../work/tasks/view.ts'

const NEEDS_YOU_KINDS = [
  'lost_secrets',
  'approval',
  'question',
  'conversation',
  'expired_task',
  'connection',
  'channel',
  'schedule',
  'intake',
] as const

export type NeedsYouKind = (typeof NEEDS_YOU_KINDS)[number]

const NeedsYouItemView = z
  .object({
    kind: z.enum(NEEDS_YOU_KINDS),
    id: z.string().meta({
      description:
        'The id of the approval, thread, task, connection, channel, schedule or question; the project of `lost_secrets`.',
    }),
    project_id: z.string(),
    title: z.string().nullable(),
    detail: z.string().nullable().meta({ description: 'Why it needs a person: an error, a reason or the question.' }),
    since: z.string(),
    wedge: z.string().nullable(),
    approval: ApprovalView.nullable().meta({ description: 'Of an approval or a question.' }),
    thread: z
      .object({
        id: z.string(),
        subject: z.string().nullable(),
        client_name: z.string().nullable(),
        adapter: z.string().nullable(),
      })
      .nullable()
      .meta({ description: 'The conversation of an approval or a question; null: it has none.' }),
    task: TaskView.nullable().meta({ description: 'Of an expired task.' }),
  })
  .meta({ id: 'NeedsYouItem' })

export type NeedsYouItemView = z.infer<typeof NeedsYouItemView>

export const NeedsYouView = z
  .object({
    data: z.array(NeedsYouItemView),
    counts: z
      .record(z.enum(NEEDS_YOU_KINDS), z.number().int())
      .meta({ description: 'How many items each kind has in all, which may be more than `data` has.' }),
    has_more: z.boolean().meta({ description: 'At least one kind has more items than are shown.' }),
  })
  .meta({ id: 'NeedsYou' })
