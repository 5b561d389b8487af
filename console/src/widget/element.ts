type Child = Node | string | null

/** Creates an element. No text becomes HTML, so a message cannot contain a script, and pages may forbid `innerHTML`. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string | boolean>,
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) created.setAttribute(name, value === true ? '' : value)
  }
  created.append(...children.filter((child) => child !== null))
  return created
}

/** An icon of 24 by 24 that is drawn by one line. */
export function icon(line: string): SVGElement {
  const namespace = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(namespace, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS(namespace, 'path')
  path.setAttribute('d', line)
  svg.append(path)
  return svg
}

/** Text with its web addresses as links. */
export function linkedText(text: string): Node[] {
  return text
    .split(/(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]])/g)
    .map((part, n) =>
      n % 2 === 0
        ? document.createTextNode(part)
        : element('a', { href: part, target: '_blank', rel: 'noopener noreferrer nofollow' }, part),
    )
}
