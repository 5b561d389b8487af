/**
 * A message in Slack's markup as plain text: `<https://a.example|our page>` becomes `our page (https://a.example)`. A
 * mention of the app itself at the start says only that the message is for it.
 */
export function fromSlackText(text: string, ownUsers: readonly string[]): string {
  const [mention = '', user = ''] = /^\s*<@(\w+)(?:\|[^>]*)?>[\s,:]*/.exec(text) ?? []
  return (ownUsers.includes(user) ? text.slice(mention.length) : text)
    .replaceAll(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_, target: string, label = '') => plainReference(target, label))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

function plainReference(target: string, label: string): string {
  if (!/^https?:/.test(target)) return label || target.replace(/^mailto:|^!/, '')
  return label && label !== target ? `${label} (${target})` : target
}

/** As Slack wants it, which also keeps a text from mentioning everybody. */
export const toSlackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
