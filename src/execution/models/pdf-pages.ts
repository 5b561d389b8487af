import { inflateSync } from 'node:zlib'

/** More lists of objects, or larger ones, are not usual in a file that a model can read. */
const MAX_OBJECT_LISTS = 2000
const MAX_INFLATED_BYTES = 32 * 1024 * 1024

/**
 * An upper bound for the number of pages of a PDF; null if it is not known. Each page is in the `Kids` of its parent, so
 * there are at most as many pages as entries, unless an entry is used twice.
 */
export function countPdfPages(content: Buffer): number | null {
  const structure = readStructure(content.toString('latin1'))
  // An encrypted file, a name with an escaped letter, or a tree outside of the objects that were read.
  if (structure === null || /\/Encrypt\b|\/[A-Za-z]*#[0-9A-Fa-f]{2}/.test(structure)) return null
  const lists = structure.match(/\/Kids\b\s*(?:\[[^\]]*(?:\]|$)|[^[\s])?/g) ?? []
  if (lists.length === 0 || lists.some((list) => !list.endsWith(']'))) return null
  const kids = lists.flatMap((list) => list.match(/(?<!\d)\d+\s+\d+\s+R/g) ?? [])
  const isShared = new Set(kids.map((kid) => kid.replaceAll(/\s+/g, ' '))).size < kids.length
  return isShared || kids.length === 0 ? null : kids.length
}

/** The objects outside of streams and in compressed object streams; null if one of these cannot be read. */
function readStructure(text: string): string | null {
  const parts: string[] = []
  const streamStart = /stream\r?\n/g
  let lists = 0
  let inflatedBytes = 0
  let at = 0
  for (;;) {
    streamStart.lastIndex = at
    const start = streamStart.exec(text)
    if (!start) return [...parts, text.slice(at)].join('\n')
    const head = text.slice(at, start.index)
    const end = text.indexOf('endstream', streamStart.lastIndex)
    if (end < 0) return null
    parts.push(head)
    const dictionary = head.slice(head.lastIndexOf('obj') + 3)
    if (/\/ObjStm\b/.test(dictionary)) {
      if (++lists > MAX_OBJECT_LISTS || /\/DecodeParms\b/.test(dictionary)) return null
      const inflated = inflate(text.slice(streamStart.lastIndex, end), MAX_INFLATED_BYTES - inflatedBytes)
      if (inflated === null) return null
      inflatedBytes += inflated.length
      parts.push(inflated)
    }
    at = end + 'endstream'.length
  }
}

function inflate(stream: string, maxOutputLength: number): string | null {
  try {
    return inflateSync(Buffer.from(stream, 'latin1'), { maxOutputLength }).toString('latin1')
  } catch {
    return null
  }
}
