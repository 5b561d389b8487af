/** The text without the slashes at its end. The expression `/\/+$/` takes minutes for a long row of slashes elsewhere. */
export function removeTrailingSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
