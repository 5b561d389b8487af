import { createdResponse, defineWrite, nameRoutes } from '../http/route.ts'
import { readTaskView, taskInScope } from '../tasks/routes.ts'
import { TaskView, toTaskView } from '../tasks/view.ts'
import { cancelTask } from './cancel-task.ts'
import { retryTask } from './retry-task.ts'

export const lifecycleRoutes = nameRoutes({
  cancelTask: defineWrite('POST', '/v1/tasks/:id/cancel', {
    summary: 'Cancel a task; one that waits for an approval is settled as rejected',
    responses: { 200: TaskView },
    find: taskInScope,
    handle: async ({ ctx, scope, subject }) => readTaskView(ctx, await cancelTask(ctx, scope, subject)),
  }),

  retryTask: defineWrite('POST', '/v1/tasks/:id/retry', {
    summary: 'Run a finished task again, as a new task; 409 when its case is closed',
    responses: { 201: TaskView },
    find: taskInScope,
    async handle({ ctx, scope, subject }) {
      const task = await retryTask(ctx, subject, scope.actor)
      return createdResponse(`/v1/tasks/${task.id}`, toTaskView(task, []))
    },
  }),
})
