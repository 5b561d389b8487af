import { z } from 'zod'
import { slug } from '../base/wedge.ts'
import { KINDS as CONNECTION_KINDS } from '../connections/executors/table.ts'
import { json, jsonObject } from '../http/judge.ts'
import { KINDS as KNOWLEDGE_KINDS } from '../knowledge/rows.ts'
import { Cadence } from '../schedules/cadence.ts'

const name = z.string().min(1).max(128)

/** What somebody can deploy: a wedge with all that it needs around it. Keys that we do not know are left alone. */
export const Blueprint = z.object({
  blueprint: slug,
  title: z.string().min(1),
  summary: z.string().default(''),
  sells_as: z.string().default(''),
  wedge: slug,
  requires_connections: z
    .array(z.object({ name, kind: z.enum(CONNECTION_KINDS), config: jsonObject.optional() }))
    .default([]),
  schedules: z.array(z.object({ name, task_type: slug, cadence: Cadence, input: json.optional() })).default([]),
  seed_knowledge: z
    .array(z.object({ name, content: z.string().min(1), kind: z.enum(KNOWLEDGE_KINDS).default('seed') }))
    .default([]),
})
export type Blueprint = z.infer<typeof Blueprint>

/** What is wrong with a file, for its author. */
export interface BlueprintProblem {
  blueprint: string
  problem: string
}
