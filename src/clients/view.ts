import { z } from 'zod'
import type { JsonObject } from '../base/json.ts'
import { jsonObject } from '../http/validate.ts'
import type { ClientWithHandles } from './rows.ts'

export const ClientView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    display_name: z.string().nullable(),
    handles: z.array(z.string()),
    metadata: jsonObject,
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Client' })

export function toClientView(client: ClientWithHandles): z.output<typeof ClientView> & { metadata: JsonObject } {
  const { id, project_id, display_name, handles, metadata, created_at, updated_at } = client
  return { id, project_id, display_name, handles, metadata, created_at, updated_at }
}
