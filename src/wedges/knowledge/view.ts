import { z } from 'zod'
import type { SkillFolder } from '../../platform/contract/wedge/skill-folder.ts'
import type { Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import { jsonObject, jsonValue } from '../../platform/http/validate.ts'
import type { KnowledgeRevisionRow } from '../../platform/store/tables.ts'
import { WedgeSummaryView } from '../library/view.ts'
import { MAX_SHOWN_QUESTIONS } from './intake.ts'
import { KNOWLEDGE_KINDS } from './rows.ts'

export const KnowledgeItemView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    wedge: z.string(),
    name: z.string(),
    content: z.string(),
    kind: z.enum(KNOWLEDGE_KINDS),
    source: z.string().nullable(),
    metadata: jsonObject,
    task_id: z.string().nullable(),
    version: z.number().int(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Knowledge' })

const NamedTextView = z.object({ name: z.string(), content: z.string() }).meta({ id: 'NamedText' })

const SkillFolderView = z
  .object({
    name: z.string(),
    description: z.string().meta({ description: 'What an agent knows of the skill before it reads its files.' }),
    content: z.string().meta({ description: 'The instructions: `SKILL.md` without its front matter.' }),
    files: z.array(z.object({ path: z.string(), size: z.number().int() })),
  })
  .meta({ id: 'SkillFolder' })

export const toSkillFolderView = ({ name, description, content, files }: SkillFolder) => ({
  name,
  description,
  content,
  files: files.map(({ path, bytes }) => ({ path, size: bytes.length })),
})

const TaskTypeView = z.object({
  input_schema: jsonObject.nullable(),
  example: jsonValue.meta({
    description: 'An example input, from `example` or `rehearsals/<type>.input.json` of the wedge; null without one.',
  }),
})

export const toTaskTypeViews = ({ manifest, examples }: Wedge): Record<string, z.infer<typeof TaskTypeView>> =>
  Object.fromEntries(
    Object.entries(manifest.task_types).map(([name, { input_schema = null, example = examples[name] ?? null }]) => [
      name,
      { input_schema, example },
    ]),
  )

/** A wedge is shown with its newest live items; the route that lists knowledge returns all of them. */
export const MAX_SHOWN_LIVE_ITEMS = 200

export const WedgeView = WedgeSummaryView.extend({
  task_types: z.record(z.string(), TaskTypeView).meta({ description: 'By name.' }),
  skills: z.array(NamedTextView),
  skill_folders: z.array(SkillFolderView).meta({
    description: 'Skills as folders (`skills/<name>/SKILL.md`), whose files an agent reads when it needs them.',
  }),
  knowledge: z.object({
    authored: z.array(NamedTextView),
    live: z.array(KnowledgeItemView).meta({ description: `The newest ${MAX_SHOWN_LIVE_ITEMS}.` }),
  }),
}).meta({ id: 'Wedge' })

export const KnowledgeRevisionView = z
  .object({
    version: z.number().int(),
    name: z.string(),
    content: z.string(),
    kind: z.enum(KNOWLEDGE_KINDS),
    by: z.object({ kind: z.string(), id: z.string() }),
    at: z.string(),
  })
  .meta({ id: 'KnowledgeRevision' })

export const IntakeQuestionView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    question: z.string(),
    why: z.string().nullable(),
    kind: z.enum(['seed', 'gap']),
    status: z.enum(['open', 'answered', 'dismissed']),
    answer: z.string().nullable(),
    knowledge_id: z.string().nullable(),
    task_id: z.string().nullable(),
    asked: z.number().int().meta({ description: 'How many runs asked for it.' }),
    created_at: z.string().nullable(),
  })
  .meta({ id: 'IntakeQuestion' })

export const IntakeView = z
  .object({
    wedge: z.string(),
    coverage: z.number().meta({ description: 'Percent of the shown questions that are answered.' }),
    questions: z
      .array(IntakeQuestionView)
      .meta({ description: `Open seed questions and the newest ${MAX_SHOWN_QUESTIONS} others.` }),
  })
  .meta({ id: 'Intake' })

export function toRevisionView({ version, name, content, kind, by_kind, by_id, at }: KnowledgeRevisionRow) {
  return { version, name, content, kind, by: { kind: by_kind, id: by_id }, at }
}
