import { z } from 'zod'

export const OauthStartView = z.object({ authorize_url: z.string() }).meta({ id: 'OauthStart' })
