import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { HttpResponse } from './route.ts'

/** The files of one folder, cached in memory. The folder is listed at the first request; later files are not found. */
export interface StaticFiles {
  /** Null if there is no such file. */
  respond(name: string, request: FileRequest, extraHeaders: Record<string, string>): HttpResponse | null
}

/** The request headers that select the response. */
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

/** The build writes a compressed copy next to each text file. */
const GZIP_EXTENSION = '.gz'

export function createStaticFiles(dir: string): StaticFiles {
  let names: Set<string> | null = null
  const cache = new Map<string, CachedFile>()
  return {
    respond(name, request, extraHeaders) {
      names ??= listFiles(dir)
      const type = TYPES[extname(name)]
      // Only names from the listing are opened, so no path can lead out of the folder.
      if (!type || !names?.has(name)) return null
      const compressed = acceptsGzip(request['accept-encoding']) && names.has(name + GZIP_EXTENSION)
      const file = readCached(cache, dir, compressed ? name + GZIP_EXTENSION : name)
      const headers = {
        ...extraHeaders,
        'content-type': type,
        etag: file.etag,
        vary: 'accept-encoding',
        'x-content-type-options': 'nosniff',
      }
      if (request['if-none-match'] === file.etag) return new HttpResponse(304, null, headers)
      return new HttpResponse(200, file.bytes, { ...headers, ...(compressed && { 'content-encoding': 'gzip' }) })
    },
  }
}

function listFiles(dir: string): Set<string> | null {
  try {
    const names = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    return new Set(names.map((name) => name.split(sep).join('/')))
  } catch {
    // The console may be built later, so the next request lists the folder again.
    return null
  }
}

function readCached(cache: Map<string, CachedFile>, dir: string, name: string): CachedFile {
  const cached = cache.get(name)
  if (cached) return cached
  const bytes = readFileSync(join(dir, name))
  const file = { bytes, etag: `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"` }
  cache.set(name, file)
  return file
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  const entry = String(header ?? '')
    .split(',')
    .find((part) => part.split(';')[0]?.trim() === 'gzip')
  return entry !== undefined && !/;\s*q=0(\.0*)?\s*$/.test(entry)
}
