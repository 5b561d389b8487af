import { z } from 'zod'
import type { FileRow } from '../../platform/store/tables.ts'

export const FileView = z
  .object({
    id: z.string(),
    name: z.string(),
    content_type: z.string(),
    size: z.number().int(),
    sha256: z.string(),
    created_at: z.string(),
  })
  .meta({ id: 'File' })

export type FileView = z.infer<typeof FileView>

export const toFileView = ({ id, name, content_type, size, sha256, created_at }: FileRow): FileView => ({
  id,
  name,
  content_type,
  size,
  sha256,
  created_at,
})
