import { defineRead, nameRoutes } from '../../platform/http/route.ts'
import { sseResponse } from '../../platform/http/sse.ts'
import { followProjectChanges, ProjectChangeView } from './project-changes.ts'

export const eventRoutes = nameRoutes({
  followProject: defineRead('/v1/stream', {
    summary: 'Follow changes of a project',
    description: 'Server-sent hints that a task, approval, case or thread changed its status.',
    responses: { 200: { eventStreamOf: ProjectChangeView } },
    async handle({ ctx, scope: { projectIds } }) {
      return sseResponse(ctx.world.clock, ctx.config.sseKeepaliveMs, (client) =>
        followProjectChanges(ctx, projectIds, client),
      )
    },
  }),
})
