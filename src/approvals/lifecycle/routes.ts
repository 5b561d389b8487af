import { readTraceHeaders, TRACE_HEADERS } from '../../platform/base/trace-context.ts'
import { createdResponse, defineWrite, nameRoutes } from '../../platform/http/route.ts'
import { readNewTaskView, readTaskView, taskInScope } from '../../work/tasks/routes.ts'
import { TaskView } from '../../work/tasks/view.ts'
import { cancelTask } from './cancel-task.ts'
import { retryTask } from './retry-task.ts'

export const lifecycleRoutes = nameRoutes({
  cancelTask: defineWrite('POST', '/v1/tasks/:id/cancel', {
    summary: 'Cancel a task',
    description: 'A task that waits for an approval ends as rejected.',
    responses: { 200: TaskView },
    find: taskInScope,
    handle: async ({ ctx, scope, subject }) => readTaskView(ctx, await cancelTask(ctx, scope, subject)),
  }),

  retryTask: defineWrite('POST', '/v1/tasks/:id/retry', {
    summary: 'Retry a finished task',
    description: 'Creates a new task with the same input. 409 if its case is closed.',
    headers: { read: TRACE_HEADERS },
    responses: { 201: TaskView },
    find: taskInScope,
    async handle({ ctx, scope, subject, request }) {
      const { task, files } = await retryTask(ctx, subject, scope.actor, readTraceHeaders(request.headers))
      return createdResponse(`/v1/tasks/${task.id}`, await readNewTaskView(ctx, task, files))
    },
  }),
})
