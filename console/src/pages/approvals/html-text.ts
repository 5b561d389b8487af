/**
 * The text that a reader of an HTML mail sees, with the target of every link. It is parsed without running or loading
 * anything, and links are written out because their text may name another address.
 */
export function htmlToText(html: string): string {
  const { body } = new DOMParser().parseFromString(html, 'text/html')
  for (const hidden of body.querySelectorAll('script, style, template')) hidden.remove()
  for (const link of body.querySelectorAll('a[href]')) {
    const href = link.getAttribute('href') ?? ''
    if (href !== link.textContent) link.append(` (${href})`)
  }
  for (const line of body.querySelectorAll('br')) line.replaceWith('\n')
  for (const block of body.querySelectorAll('p, div, li, tr, h1, h2, h3, h4, h5, h6, blockquote')) block.append('\n')
  return (body.textContent ?? '')
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}
