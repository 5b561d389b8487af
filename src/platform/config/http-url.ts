/** Checked at start, so that a wrong address does not fail only at the first request. */
export function parseHttpUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new Error(`${name} must be an http or https url`)
  return url
}
