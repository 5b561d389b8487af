import { z } from 'zod'
import { SLUG } from '../base/names.ts'
import type { Wedge } from '../base/wedge.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { jsonObject } from '../http/judge.ts'
import { page, pageOf, pageQuery } from '../http/page.ts'
import { read, nameRoutes } from '../http/route.ts'
import { isEnabled } from './enabled.ts'
import { enabledWedges } from './rows.ts'

/** What every answer about a wedge begins with. */
export const wedgeSummary = z.object({
  wedge: z.string(),
  title: z.string(),
  manifest: jsonObject,
  enabled: z.boolean().meta({ description: 'in the project, or in at least one of the projects in scope' }),
  problems: z.array(z.string()),
})

/** Wedges have no age: they are listed by name, and the name is the cursor. */
const query = z.object(pageQuery(SLUG))

export const wedgeRoutes = nameRoutes({
  listWedges: read('/v1/wedges', {
    summary: 'List the wedges',
    query,
    answers: { 200: pageOf(wedgeSummary) },
    async handle({ ctx, scope, query }) {
      const enabled = await enabledWedges(ctx.db, scope.projectIds)
      const after = query.cursor ?? ''
      const wedges = ctx.wedges.all().filter(({ slug }) => slug > after)
      const sorted = wedges.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)).slice(0, query.limit + 1)
      return page(
        sorted,
        query.limit,
        ({ slug }) => slug,
        (wedge) => summaryOf(ctx, wedge, enabled),
      )
    },
  }),
})

export function summaryOf(ctx: Ctx, wedge: Wedge, enabled: (string[] | null)[]): z.infer<typeof wedgeSummary> {
  return {
    wedge: wedge.slug,
    title: wedge.title,
    manifest: wedge.source,
    enabled: enabled.some((wedges) => isEnabled(wedges, wedge.slug)),
    problems: ctx.wedges
      .problems()
      .filter((problem) => problem.wedge === wedge.slug)
      .map(({ problem }) => problem),
  }
}
