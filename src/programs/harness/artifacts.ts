import { promises as fs, readdirSync } from 'node:fs'
import path from 'node:path'
import { type AgentLine, MAX_ARTIFACT_MB } from '../../platform/contract/agent-protocol.ts'

const MAX_FILES = 50

const CONTENT_TYPES: Record<string, string> = {
  '.txt': 'text/plain; charset=utf-8',
  '.log': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.ics': 'text/calendar; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
  '.gz': 'application/gzip',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

/**
 * Emits one artifact line per file below the folder, in the order of their names, and reports files that it leaves out.
 * Each line is sent before the next file is read, because all files together may exceed the memory of the cell.
 */
export async function emitArtifacts(
  folder: string,
  emit: (line: AgentLine) => Promise<void>,
  maxMb = MAX_ARTIFACT_MB.database,
): Promise<void> {
  const names = listFilesBelow(folder, '')
  for (const name of names.slice(0, MAX_FILES)) {
    const { size } = await fs.stat(path.join(folder, name))
    await emit(
      size > maxMb * 1024 * 1024
        ? toProgressLine(`Left out ${name}: larger than ${maxMb} MiB`)
        : await toArtifactLine(folder, name),
    )
  }
  const more = names.length - MAX_FILES
  if (more > 0) await emit(toProgressLine(`Left out ${more} files: only ${MAX_FILES} can be delivered`))
}

export function contentTypeOf(name: string): string {
  return CONTENT_TYPES[path.extname(name).toLowerCase()] ?? 'application/octet-stream'
}

async function toArtifactLine(folder: string, name: string): Promise<AgentLine> {
  const content = await fs.readFile(path.join(folder, name))
  return { artifact: { name, content_type: contentTypeOf(name), content_base64: content.toString('base64') } }
}

function toProgressLine(text: string): AgentLine {
  return { event: 'progress', data: { text } }
}

/** Lists only regular files: a link could point outside the files of the run. */
export function listFilesBelow(folder: string, prefix: string): string[] {
  const entries = readdirSync(path.join(folder, prefix), { withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`
    if (entry.isDirectory()) found.push(...listFilesBelow(folder, name))
    else if (entry.isFile()) found.push(name)
  }
  return found
}
