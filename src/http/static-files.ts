import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { HttpResponse } from './route.ts'

/** Files of one folder, read once and kept; what is not in the folder when it is first asked for does not exist. */
export interface StaticFiles {
  /** Null when there is no such file. */
  respond(name: string, headers: FileRequest, more: Record<string, string>): HttpResponse | null
}

interface FileRequest {
  'accept-encoding'?: string | string[] | undefined
  'if-none-match'?: string | undefined
}

interface CachedFile {
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

export function createStaticFiles(dir: string): StaticFiles {
  let names: Set<string> | null = null
  const kept = new Map<string, CachedFile>()
  return {
    respond(name, request, more) {
      names ??= listFiles(dir)
      const type = TYPES[extname(name)]
      // Only names from the listing are opened, so no path can lead out of the folder.
      if (!type || !names?.has(name)) return null
      const accepted = acceptedEncodings(request['accept-encoding'])
      const encoding = ENCODINGS.find((one) => accepted.has(one.name) && names?.has(name + one.extension))
      const file = readCached(kept, dir, name + (encoding?.extension ?? ''))
      const headers = {
        ...more,
        'content-type': type,
        etag: file.etag,
        vary: 'accept-encoding',
        'x-content-type-options': 'nosniff',
      }
      if (request['if-none-match'] === file.etag) return new HttpResponse(304, null, headers)
      return new HttpResponse(200, file.bytes, { ...headers, ...(encoding && { 'content-encoding': encoding.name }) })
    },
  }
}

function listFiles(dir: string): Set<string> | null {
  try {
    const names = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    return new Set(names.map((name) => name.split(sep).join('/')))
  } catch {
    // Not built yet; perhaps at the next request.
    return null
  }
}

function readCached(kept: Map<string, CachedFile>, dir: string, name: string): CachedFile {
  const known = kept.get(name)
  if (known) return known
  const bytes = readFileSync(join(dir, name))
  const file = { bytes, etag: `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"` }
  kept.set(name, file)
  return file
}

function acceptedEncodings(header: string | string[] | undefined): Set<string> {
  const words = String(header ?? '').split(',')
  const taken = words.filter((word) => !/;\s*q=0(\.0*)?\s*$/.test(word))
  return new Set(taken.map((word) => word.split(';')[0]?.trim() ?? ''))
}
