import { z } from 'zod'
import type { Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import { isWedgeEnabled } from './enabled-wedges.ts'

export const WedgeSummaryView = z
  .object({
    wedge: z.string(),
    title: z.string(),
    manifest: jsonObject.meta({ description: 'As the author wrote it; empty if it is not valid.' }),
    enabled: z.boolean().meta({ description: 'Valid, and enabled in at least one project in scope.' }),
    problems: z.array(z.object({ file: z.string(), line: z.number().int(), message: z.string() })),
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
    problems: problemsOf(ctx, wedge.slug),
  }
}

/** A folder whose wedge cannot be used. Its problems say why. */
export function toBrokenWedgeView(ctx: Ctx, slug: string): z.infer<typeof WedgeSummaryView> {
  return { wedge: slug, title: slug, manifest: {}, enabled: false, problems: problemsOf(ctx, slug) }
}

const problemsOf = (ctx: Ctx, slug: string) =>
  ctx.wedges
    .problems()
    .filter(({ wedge }) => wedge === slug)
    .map(({ file, line, message }) => ({ file, line, message }))
