const MAX_NAME_BYTES = 200
const FALLBACK_NAME = 'file'

/**
 * A name that is safe as part of a path and in a header: without folders, control characters and invisible marks that
 * change the direction of text, which could hide the real extension. A long name keeps its extension.
 */
export function cleanFileName(name: string): string {
  const base = name.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  const visible = base
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim()
  return /^\.*$/.test(visible) ? FALLBACK_NAME : shortenName(visible)
}

function shortenName(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name
  const extension = /\.[a-z0-9]{1,16}$/i.exec(name)?.[0] ?? ''
  const kept = Array.from(name.slice(0, name.length - extension.length))
  let bytes = Buffer.byteLength(extension)
  let count = 0
  for (const character of kept) {
    bytes += Buffer.byteLength(character)
    if (bytes > MAX_NAME_BYTES) break
    count++
  }
  return kept.slice(0, count).join('') + extension
}
