import { defineRead, nameRoutes } from '../http/route.ts'
import { sseResponse } from '../http/sse.ts'
import { followProjectChanges } from './project-changes.ts'

export const eventRoutes = nameRoutes({
  followProject: defineRead('/v1/stream', {
    summary: 'What changes in your projects, live: tasks, approvals, cases, threads',
    responses: { 200: 'text/event-stream' },
    async handle({ ctx, scope: { projectIds } }) {
      return sseResponse(ctx.world.clock, ctx.config.sseKeepaliveMs, (reader) =>
        followProjectChanges(ctx, projectIds, reader),
      )
    },
  }),
})
