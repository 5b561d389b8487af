import { z } from 'zod'
import { isSlug, SLUG } from '../../platform/base/text.ts'
import { pageQuery, pageSchema, toPage } from '../../platform/http/page.ts'
import { defineRead, nameRoutes } from '../../platform/http/route.ts'
import { listEnabledWedges } from './rows.ts'
import { toBrokenWedgeView, toWedgeSummaryView, WedgeSummaryView } from './view.ts'

/** Wedges are listed by name, so the name is the cursor. */
const query = z.object(pageQuery(SLUG))

export const wedgeRoutes = nameRoutes({
  listWedges: defineRead('/v1/wedges', {
    summary: 'List wedges',
    description: 'Also lists wedges that cannot be used, with their problems and an empty manifest.',
    query,
    responses: { 200: pageSchema(WedgeSummaryView) },
    async handle({ ctx, scope, query }) {
      const enabled = await listEnabledWedges(ctx.db, scope.projectIds)
      const after = query.cursor ?? ''
      const broken = ctx.wedges.problems().flatMap(({ wedge }) => (ctx.wedges.get(wedge) ? [] : wedge))
      // A folder whose name is not a slug cannot be a cursor; it is only in the problems of `GET /v1/meta`.
      const slugs = new Set([...ctx.wedges.all().map(({ slug }) => slug), ...broken.filter(isSlug)])
      const sorted = [...slugs].filter((slug) => slug > after).toSorted((a, b) => (a < b ? -1 : 1))
      return toPage(
        sorted.slice(0, query.limit + 1),
        query.limit,
        (slug) => slug,
        (slug) => {
          const wedge = ctx.wedges.get(slug)
          return wedge ? toWedgeSummaryView(ctx, wedge, enabled) : toBrokenWedgeView(ctx, slug)
        },
      )
    },
  }),
})
