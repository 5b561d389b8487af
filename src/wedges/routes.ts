import { z } from 'zod'
import { SLUG } from '../base/slug.ts'
import { pageQuery, pageSchema, toPage } from '../http/page.ts'
import { defineRead, nameRoutes } from '../http/route.ts'
import { listEnabledWedges } from './rows.ts'
import { toWedgeSummaryView, WedgeSummaryView } from './view.ts'

/** Wedges are listed by name, so the name is the cursor. */
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
