/** A text in one line, without characters that are invisible or change the direction of what follows. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, ' ').trim()

/** A text as the content of an HTML element or of an attribute in double quotes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The text without the slashes at its end. The expression `/\/+$/` takes minutes for a long row of slashes elsewhere. */
export function removeTrailingSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}

/** A name that can be part of a path, a host name or a key without escaping. */
export const SLUG = /^[a-z0-9][a-z0-9_-]{0,63}$/

export const isSlug = (name: string): boolean => SLUG.test(name)
