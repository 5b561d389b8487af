import { z } from 'zod'
import { NamedActorView } from '../../identity/authentication/view.ts'
import { FileView } from '../../work/files/view.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import { APPROVAL_STATUSES, ApprovalView, MemberNameView } from './view.ts'

const ThreadExcerptView = z.object({
  id: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  body: z.string(),
  at: z.string(),
  unverified: z.boolean().meta({ description: 'Nothing proves that the customer wrote this mail.' }),
  author: NamedActorView.nullable().meta({ description: 'The member or key that wrote an answer.' }),
})

const PastDecisionView = z
  .object({
    approval_id: z.string(),
    text: z.string().nullable(),
    status: z.enum(APPROVAL_STATUSES),
    decided_by: NamedActorView.nullable(),
    decided_at: z.string().nullable(),
    edited: z.boolean(),
    reason: z.string().nullable(),
  })
  .meta({ id: 'PastDecision' })

export const ApprovalDetailView = ApprovalView.extend({
  thread: z
    .array(ThreadExcerptView)
    .meta({ description: 'The end of the conversation: at most 6 messages, oldest first.' }),
  history: z
    .array(PastDecisionView)
    .meta({ description: 'The newest 5 earlier decisions on the same action of the wedge, newest first.' }),
  steps: z
    .array(z.object({ at: z.string(), text: z.string() }))
    .meta({ description: 'The last 10 things the agent did before it asked, oldest first.' }),
  waits_for: z
    .array(MemberNameView)
    .meta({ description: 'Members who may decide and have not approved yet. Empty once it is decided.' }),
  rule: z.string().meta({ description: 'Why the request needs a decision, and whose, in words.' }),
  files: z.array(FileView).meta({ description: 'The files of the payload and of the task.' }),
  schema: jsonObject.nullable().meta({ description: 'The JSON Schema of the payload, for a form; null: not known.' }),
}).meta({ id: 'ApprovalDetail' })

export const ApprovalCommentView = z
  .object({ id: z.string(), approval_id: z.string(), body: z.string(), author: NamedActorView, created_at: z.string() })
  .meta({ id: 'ApprovalComment' })
