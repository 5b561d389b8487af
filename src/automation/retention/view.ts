import { z } from 'zod'

const count = z.number().int()

export const ErasureView = z
  .object({
    client_id: z.string(),
    erased: z.object({
      tasks: count,
      files: count,
      knowledge: count,
      threads: count,
      messages: count,
      connections: count,
    }),
  })
  .meta({ id: 'Erasure' })
