import { z } from 'zod'
import { pageSchema } from '../../platform/http/page.ts'
import { jsonObject } from '../../platform/http/validate.ts'

const BlueprintSummaryView = z
  .object({
    blueprint: z.string(),
    title: z.string(),
    summary: z.string(),
    sells_as: z.string(),
    wedge: z.string(),
    installed: z.boolean().meta({ description: 'Provisioned in at least one project in scope.' }),
    active: z.boolean(),
  })
  .meta({ id: 'Blueprint' })

export const BlueprintPageView = pageSchema(BlueprintSummaryView)
  .extend({ problems: z.array(z.object({ blueprint: z.string(), problem: z.string() })) })
  .meta({ id: 'BlueprintList' })

const BlueprintPartsView = z
  .object({
    connections: z.array(z.string()),
    schedules: z.array(z.string()),
    knowledge: z.array(z.string()),
  })
  .meta({ id: 'BlueprintParts' })

const ReadinessItemView = z
  .object({
    item: z.string(),
    kind: z.enum(['wedge', 'provision', 'connection', 'config', 'secret', 'authorisation', 'schedule', 'model']),
    ok: z.boolean(),
    detail: z.string(),
    fix: z
      .object({ method: z.enum(['GET', 'POST', 'PUT']), path: z.string(), body: jsonObject.nullable() })
      .nullable()
      .meta({
        description:
          'The request that fixes the item, or null if no request can. Values in <angle brackets> are yours to fill in.',
      }),
  })
  .meta({ id: 'ReadinessItem' })

export const ReadinessView = z
  .object({
    ready: z.boolean(),
    items: z.array(ReadinessItemView),
    warnings: z.array(z.string()).meta({ description: 'Problems that no request can fix and that affect its tasks.' }),
  })
  .meta({ id: 'Readiness' })

export const ProvisionedBlueprintView = z.object({
  blueprint: z.string(),
  created: BlueprintPartsView,
  reused: BlueprintPartsView,
  readiness: ReadinessView,
})

export const ActivatedBlueprintView = z.object({ ok: z.literal(true), active: z.literal(true) })

export const NotReadyView = z.object({ error: z.string(), missing: ReadinessView.shape.items.optional() })

export type ReadinessView = z.infer<typeof ReadinessView>
export type ReadinessItem = z.infer<typeof ReadinessItemView>
