import { z } from 'zod'
import { countRunBytes, runStorageFull } from '../../../identity/limits/storage-usage.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { storeFile } from '../../../work/files/store-file.ts'
import { FileView, toFileView } from '../../../work/files/view.ts'
import { HttpResponse, nameRoutes } from '../../../platform/http/route.ts'
import { actorOf, sandboxRoute } from './sandbox-routes.ts'

/** A file of 10 MiB in base64, and the fields around it. */
export const MAX_FILE_BODY_BYTES = 15 * 1024 * 1024
export const RUN_FILES_PATH = '/v1/internal/files'

/** Files that an agent makes, to send them with an action. They belong to the client of the task. */
export const runFileRoutes = nameRoutes({
  createRunFile: sandboxRoute('POST', RUN_FILES_PATH, {
    summary: 'Store a file to send it with an action',
    body: z.object({
      name: z.string().min(1).max(1000),
      content_type: z.string().max(255).optional(),
      content: z.string().meta({ description: 'In base64.' }),
    }),
    maxBodyBytes: MAX_FILE_BODY_BYTES,
    responses: { 201: FileView },
    async handle({ ctx, scope: run, body }) {
      const { name, content_type: contentType, content } = body
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(content)) throw badRequest("field 'content' must be base64")
      const bytes = Buffer.from(content, 'base64')
      if (!countRunBytes(ctx.config, run.usage, bytes.length)) throw runStorageFull(ctx.config)
      const owner = { projectId: run.facts.projectId, clientId: run.facts.task.client_id, actor: actorOf(run.facts) }
      const store = () => storeFile(ctx, owner, { name, contentType }, toAsync(bytes))
      return new HttpResponse(201, toFileView(await run.workingTime.whileWorking(store)))
    },
  }),
})

async function* toAsync(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
