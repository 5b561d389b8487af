import { z } from 'zod'
import type { JsonObject } from '../../platform/base/json.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import type { ClientActivity, ClientWithHandles } from './rows.ts'

export const ClientView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    display_name: z.string().nullable(),
    handles: z.array(z.string()),
    metadata: jsonObject,
    open_threads: z.number().int().meta({ description: 'The open conversations with the client.' }),
    last_activity_at: z.string().nullable().meta({ description: 'The last change of a conversation with the client.' }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Client' })

export function toClientView(
  client: ClientWithHandles,
  activity: ClientActivity | undefined,
): z.output<typeof ClientView> & { metadata: JsonObject } {
  const { id, project_id, display_name, handles, metadata, created_at, updated_at } = client
  const { open_threads, last_activity_at } = activity ?? { open_threads: 0, last_activity_at: null }
  return {
    id,
    project_id,
    display_name,
    handles,
    metadata,
    open_threads,
    last_activity_at,
    created_at,
    updated_at,
  }
}
