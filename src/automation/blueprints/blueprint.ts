import { z } from 'zod'
import { CONNECTION_KINDS } from '../../connections/executors/executor-table.ts'
import { slugSchema } from '../../platform/contract/wedge/wedge-manifest.ts'
import { jsonObject, jsonValue } from '../../platform/http/validate.ts'
import { KNOWLEDGE_KINDS } from '../../wedges/knowledge/rows.ts'
import { Cadence } from '../../platform/base/cadence.ts'

const name = z.string().min(1).max(128)

/** A ready-made service: a wedge with the connections, schedules and knowledge that it needs. Unknown keys are ignored. */
export const Blueprint = z.object({
  blueprint: slugSchema,
  title: z.string().min(1),
  summary: z.string().default(''),
  sells_as: z.string().default(''),
  wedge: slugSchema,
  requires_connections: z
    .array(
      z.object({
        name,
        kind: z.enum(CONNECTION_KINDS),
        /** Brings the config; `config` then replaces single keys. */
        preset: slugSchema.optional(),
        config: jsonObject.optional(),
      }),
    )
    .default([]),
  schedules: z
    .array(z.object({ name, task_type: slugSchema, cadence: Cadence, input: jsonValue.optional() }))
    .default([]),
  seed_knowledge: z
    .array(z.object({ name, content: z.string().min(1), kind: z.enum(KNOWLEDGE_KINDS).default('seed') }))
    .default([]),
})
export type Blueprint = z.infer<typeof Blueprint>

/** What is wrong with a blueprint file. */
export interface BlueprintProblem {
  blueprint: string
  problem: string
}
