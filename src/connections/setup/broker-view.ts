import { z } from 'zod'

export const ToolkitView = z
  .object({ slug: z.string(), name: z.string(), description: z.string().nullable() })
  .meta({ id: 'Toolkit' })

export const AuthorisationView = z
  .object({
    connection_id: z.string(),
    redirect_url: z.string().nullable(),
    expires_at: z.string().nullable(),
    status: z.string(),
  })
  .meta({ id: 'Authorisation' })

export const BrokerAccountView = z.object({ status: z.string(), active: z.boolean() })
