import { z } from 'zod'
import type { Wedge } from '../contract/wedge-manifest.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { jsonObject } from '../http/validate.ts'
import { isWedgeEnabled } from './enabled-wedges.ts'

export const WedgeSummaryView = z
  .object({
    wedge: z.string(),
    title: z.string(),
    manifest: jsonObject,
    enabled: z.boolean().meta({ description: 'Enabled in at least one project in scope.' }),
    problems: z.array(z.string()),
  })
  .meta({ id: 'WedgeSummary' })

export function toWedgeSummaryView(
  ctx: Ctx,
  wedge: Wedge,
  enabled: (string[] | null)[],
): z.infer<typeof WedgeSummaryView> {
  return {
    wedge: wedge.slug,
    title: wedge.title,
    manifest: wedge.source,
    enabled: enabled.some((wedges) => isWedgeEnabled(wedges, wedge.slug)),
    problems: ctx.wedges
      .problems()
      .filter((problem) => problem.wedge === wedge.slug)
      .map(({ problem }) => problem),
  }
}
