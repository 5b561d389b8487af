import { z } from 'zod'
import { SLUG } from '../base/slug.ts'
import type { Wedge } from '../contract/wedge-manifest.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { jsonObject } from '../http/validate.ts'
import { toPage, pageSchema, pageQuery } from '../http/page.ts'
import { defineRead, nameRoutes } from '../http/route.ts'
import { isWedgeEnabled } from './enabled-wedges.ts'
import { listEnabledWedges } from './rows.ts'

/** What every answer about a wedge begins with. */
export const WedgeSummaryView = z
  .object({
    wedge: z.string(),
    title: z.string(),
    manifest: jsonObject,
    enabled: z.boolean().meta({ description: 'Enabled in at least one project in scope.' }),
    problems: z.array(z.string()),
  })
  .meta({ id: 'WedgeSummary' })

/** Wedges have no age: they are listed by name, and the name is the cursor. */
const query = z.object(pageQuery(SLUG))

export const wedgeRoutes = nameRoutes({
  listWedges: defineRead('/v1/wedges', {
    summary: 'List wedges',
    query,
    responses: { 200: pageSchema(WedgeSummaryView) },
    async handle({ ctx, scope, query }) {
      const enabled = await listEnabledWedges(ctx.db, scope.projectIds)
      const after = query.cursor ?? ''
      const wedges = ctx.wedges.all().filter(({ slug }) => slug > after)
      const sorted = wedges.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)).slice(0, query.limit + 1)
      return toPage(
        sorted,
        query.limit,
        ({ slug }) => slug,
        (wedge) => toWedgeSummaryView(ctx, wedge, enabled),
      )
    },
  }),
})

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
