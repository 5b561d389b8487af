const OCTET_STREAM = 'application/octet-stream'
const ZIP = 'application/zip'

/** The first bytes of formats, in Latin-1. A dot stands for any byte. */
const SIGNATURES: readonly [string, string][] = [
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['RIFF....WEBP', 'image/webp'],
  ['RIFF....WAVE', 'audio/wav'],
  ['BM....\0\0\0\0', 'image/bmp'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['....ftypavif', 'image/avif'],
  ['....ftypheic', 'image/heic'],
  ['....ftypqt', 'video/quicktime'],
  ['....ftypM4A', 'audio/mp4'],
  ['....ftyp', 'video/mp4'],
  ['\x1aE\xdf\xa3', 'video/webm'],
  ['ID3', 'audio/mpeg'],
  ['OggS', 'audio/ogg'],
  ['%PDF-', 'application/pdf'],
  ['PK\x03\x04', ZIP],
  ['PK\x05\x06', ZIP],
  ['\x1f\x8b', 'application/gzip'],
]

/** Types that a file has only if its first bytes say so. */
const SIGNED_TYPES = new Set(SIGNATURES.map(([, type]) => type))

/** Text that a browser may run, whatever type the sender gave it. */
const MARKUP: readonly [RegExp, string][] = [
  [/^<svg[\s>/]/i, 'image/svg+xml'],
  [/^<(?:!doctype\s+html|html|head|body|script|iframe|style|title|a|b|br|div|font|h1|img|p|table)[\s>/]/i, 'text/html'],
]

/** What may come before the first element, as its beginning and its end. */
const PROLOGUE: readonly [RegExp, string][] = [
  [/^<\?xml/i, '>'],
  [/^<!doctype svg/i, '>'],
  [/^<!--/, '-->'],
]

const TYPES_BY_EXTENSION: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  htm: 'text/html',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  mjs: 'text/javascript',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  xml: 'application/xml',
}

/** As many bytes as `detectContentType` looks at. */
const SNIFFED_BYTES = 1024

/**
 * The type of a file. Its first bytes count more than what the sender declared: an image or a PDF is one only if it
 * starts like one, and markup is markup under every name.
 */
export function detectContentType(start: Buffer, name: string, declared: string | undefined): string {
  const bytes = start.subarray(0, SNIFFED_BYTES).toString('latin1')
  const given = parseType(declared)
  const found = SIGNATURES.find(([signature]) => startsWith(bytes, signature))?.[1]
  if (found) return found === ZIP && isZipContainer(given) ? given : found
  const markup = markupType(bytes.replace(/^\xef\xbb\xbf/, ''))
  if (markup) return markup
  const type = given === OCTET_STREAM ? typeByExtension(name) : given
  return SIGNED_TYPES.has(type) ? OCTET_STREAM : type
}

/** Skips the prologue step by step: one pattern for all of it would take exponential time for a hostile file. */
function markupType(bytes: string): string | null {
  let rest = bytes.trimStart()
  for (;;) {
    const [start, end] = PROLOGUE.find(([pattern]) => pattern.test(rest)) ?? []
    if (!start || !end) return MARKUP.find(([pattern]) => pattern.test(rest))?.[1] ?? null
    const length = rest.indexOf(end)
    // What follows is not known, so the file counts as the type that may do most harm.
    if (length < 0) return 'text/html'
    rest = rest.slice(length + end.length).trimStart()
  }
}

function startsWith(bytes: string, signature: string): boolean {
  if (bytes.length < signature.length) return false
  for (let i = 0; i < signature.length; i++) if (signature[i] !== '.' && signature[i] !== bytes[i]) return false
  return true
}

/** Office documents and books are ZIP archives. */
const isZipContainer = (type: string) =>
  /^application\/(?:vnd\.openxmlformats-officedocument\.|vnd\.oasis\.opendocument\.|epub\+zip$|x-zip-compressed$)/.test(
    type,
  )

/** The type without parameters; a text that is no type, and a type of forms, count as unknown. */
function parseType(declared: string | undefined): string {
  const type = declared?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!/^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/.test(type)) return OCTET_STREAM
  return type === 'application/x-www-form-urlencoded' || type.startsWith('multipart/') ? OCTET_STREAM : type
}

function typeByExtension(name: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(TYPES_BY_EXTENSION, extension) ? (TYPES_BY_EXTENSION[extension] ?? OCTET_STREAM) : OCTET_STREAM
}
