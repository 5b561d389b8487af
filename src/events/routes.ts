import { read, nameRoutes } from '../http/route.ts'
import { sse } from '../http/sse.ts'
import { followProjects } from './changes.ts'

export const eventRoutes = nameRoutes({
  followProject: read('/v1/stream', {
    summary: 'What changes in your projects, live: tasks, approvals, cases, threads',
    answers: { 200: 'text/event-stream' },
    async handle({ ctx, scope: { projectIds } }) {
      return sse(ctx.world.clock, ctx.config.sseKeepaliveMs, (reader) => followProjects(ctx, projectIds, reader))
    },
  }),
})
