export type PreviewKind = 'image' | 'pdf' | 'csv' | 'markdown' | 'json' | 'text' | null

/** SVG is not in the list: it can contain scripts. */
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']

/** A larger text would block the browser; it can be downloaded. */
export const MAX_TEXT_BYTES = 1_000_000

/** How a file is shown; null if it can only be downloaded. The service has checked that the type fits the bytes. */
export function previewKind({
  name,
  content_type,
  size,
}: {
  name: string
  content_type: string
  size: number
}): PreviewKind {
  const [type = ''] = content_type.split(';')
  if (IMAGES.includes(type)) return 'image'
  if (type === 'application/pdf') return 'pdf'
  if (size > MAX_TEXT_BYTES) return null
  if (type === 'text/csv' || /\.csv$/i.test(name)) return 'csv'
  if (type === 'text/markdown' || /\.(md|markdown)$/i.test(name)) return 'markdown'
  if (type === 'application/json' || /\.json$/i.test(name)) return 'json'
  return type === 'text/plain' ? 'text' : null
}
