import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { Answer } from './route.ts'

/** Files of one folder, read once and kept; what is not in the folder when it is first asked for does not exist. */
export interface StaticFolder {
  /** Null when there is no such file. */
  answer(name: string, headers: FileRequest, more: Record<string, string>): Answer | null
}

interface FileRequest {
  'accept-encoding'?: string | string[] | undefined
  'if-none-match'?: string | undefined
}

interface Kept {
  bytes: Buffer
  etag: string
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** The build lays compressed copies beside a file; the smallest that the caller takes is sent. */
const ENCODINGS = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
]

export function staticFolder(dir: string): StaticFolder {
  let names: Set<string> | null = null
  const kept = new Map<string, Kept>()
  return {
    answer(name, request, more) {
      names ??= listed(dir)
      const type = TYPES[extname(name)]
      // Only names from the listing are opened, so no path can lead out of the folder.
      if (!type || !names?.has(name)) return null
      const accepted = accepts(request['accept-encoding'])
      const encoding = ENCODINGS.find((one) => accepted.has(one.name) && names?.has(name + one.extension))
      const file = read(kept, dir, name + (encoding?.extension ?? ''))
      const headers = {
        ...more,
        'content-type': type,
        etag: file.etag,
        vary: 'accept-encoding',
        'x-content-type-options': 'nosniff',
      }
      if (request['if-none-match'] === file.etag) return new Answer(304, null, headers)
      return new Answer(200, file.bytes, { ...headers, ...(encoding && { 'content-encoding': encoding.name }) })
    },
  }
}

function listed(dir: string): Set<string> | null {
  try {
    const names = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    return new Set(names.map((name) => name.split(sep).join('/')))
  } catch {
    // Not built yet; perhaps at the next request.
    return null
  }
}

function read(kept: Map<string, Kept>, dir: string, name: string): Kept {
  const known = kept.get(name)
  if (known) return known
  const bytes = readFileSync(join(dir, name))
  const file = { bytes, etag: `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"` }
  kept.set(name, file)
  return file
}

function accepts(header: string | string[] | undefined): Set<string> {
  const words = String(header ?? '').split(',')
  const taken = words.filter((word) => !/;\s*q=0(\.0*)?\s*$/.test(word))
  return new Set(taken.map((word) => word.split(';')[0]?.trim() ?? ''))
}
