/** What a setting must be that is opened or called: found out at the start, not by the first request that needs it. */
export function parseHttpUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new Error(`${name} must be an http or https url`)
  return url
}
