/**
 * The text that a reader of an HTML mail sees, in one pass. Elements that are hidden by their style or attribute are left
 * out, because a sender can hide instructions for the agent there. Quotes keep a `>` so that `cutQuotedText` finds them.
 */
export function htmlToText(html: string): string {
  const writer: TextWriter = { lines: [], line: [], endsInSpace: true, hasText: false, quoteDepth: 0, link: null }
  let position = 0
  while (position < html.length) {
    const open = html.indexOf('<', position)
    if (open !== position) writeText(writer, html.slice(position, open === -1 ? undefined : open))
    if (open === -1) break
    const tag = readTag(html, open)
    if (!tag) {
      writeText(writer, '<')
      position = open + 1
    } else if (isSkipped(tag)) {
      position = findEndOfElement(html, tag)
    } else {
      writeTag(writer, tag)
      position = tag.end
    }
  }
  endLine(writer)
  return tidyText(writer.lines.join('\n'))
}

interface TextWriter {
  lines: string[]
  /** The pieces of the line that is being written. They are joined once: to look at a growing text is quadratic work. */
  line: string[]
  endsInSpace: boolean
  hasText: boolean
  quoteDepth: number
  /** The address of the open link, and where its text starts. */
  link: { href: string; lineNumber: number; piece: number } | null
}

interface HtmlTag {
  name: string
  isClosing: boolean
  attributes: string
  /** The position after the tag. */
  end: number
}

const SKIPPED = new Set(['script', 'style', 'head', 'title', 'template', 'noscript', 'svg', 'object', 'select'])
const VOID = new Set(['area', 'base', 'br', 'col', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr'])
const PARAGRAPHS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'table', 'blockquote', 'pre'])
const BLOCKS = new Set([
  ...PARAGRAPHS,
  'div',
  'br',
  'tr',
  'li',
  'hr',
  'section',
  'article',
  'header',
  'footer',
  'dt',
  'dd',
])
const HIDDEN =
  /(?:^|\s)hidden(?:[\s=]|$)|display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:[a-z]{2})?\s*(?:[;"']|$)|opacity\s*:\s*0(?:\.0+)?\s*(?:[;"']|$)/i

function readTag(html: string, open: number): HtmlTag | null {
  const next = html[open + 1] ?? ''
  if (next === '!' || next === '?') {
    const isComment = html.startsWith('<!--', open)
    const close = isComment ? html.indexOf('-->', open + 4) : html.indexOf('>', open)
    return { name: '', isClosing: false, attributes: '', end: close === -1 ? html.length : close + (isComment ? 3 : 1) }
  }
  const name = /^<\/?([a-z][a-z0-9]{0,30})/i.exec(html.slice(open, open + 34))?.[1]
  if (!name) return null
  const close = findEndOfTag(html, open)
  return {
    name: name.toLowerCase(),
    isClosing: next === '/',
    attributes: html.slice(open + 1 + name.length, close),
    end: close + 1,
  }
}

/** The position of the `>` that ends the tag. A `>` within quotes does not end it. */
function findEndOfTag(html: string, open: number): number {
  let quote = ''
  for (let at = open; at < html.length; at += 1) {
    const character = html[at] ?? ''
    if (quote) quote = character === quote ? '' : quote
    else if (character === '>') return at
    else if ((character === '"' || character === "'") && html[at - 1] === '=') quote = character
  }
  return html.length
}

const isSkipped = ({ name, isClosing, attributes }: HtmlTag): boolean =>
  !isClosing && name !== '' && (SKIPPED.has(name) || (!VOID.has(name) && HIDDEN.test(attributes)))

/** The position after the closing tag of the element, which may contain elements of the same name. */
function findEndOfElement(html: string, { name, end, attributes }: HtmlTag): number {
  if (attributes.endsWith('/')) return end
  const tags = new RegExp(`<(/?)${name}(?=[\\s/>])`, 'gi')
  tags.lastIndex = end
  let depth = 1
  for (let found = tags.exec(html); found; found = tags.exec(html)) {
    depth += found[1] ? -1 : 1
    if (depth === 0) return findEndOfTag(html, found.index) + 1
  }
  return html.length
}

function writeTag(writer: TextWriter, { name, isClosing, attributes }: HtmlTag): void {
  if (name === 'a') return isClosing ? endLink(writer) : startLink(writer, attributes)
  if (name === 'td' || name === 'th') return isClosing ? appendText(writer, ' ') : undefined
  if (!BLOCKS.has(name)) return
  // A line break always ends the line; another block only if the line has text.
  if (name === 'br' || writer.hasText) endLine(writer)
  if (name === 'blockquote' && isClosing) writer.quoteDepth = Math.max(0, writer.quoteDepth - 1)
  if (PARAGRAPHS.has(name)) endLine(writer)
  if (name === 'blockquote' && !isClosing) writer.quoteDepth = Math.min(writer.quoteDepth + 1, MAX_QUOTE_DEPTH)
  if (name === 'li' && !isClosing) appendText(writer, '- ')
}

const MAX_QUOTE_DEPTH = 5

function endLine(writer: TextWriter): void {
  writer.lines.push('> '.repeat(writer.quoteDepth) + writer.line.join('').trimEnd())
  writer.line = []
  writer.endsInSpace = true
  writer.hasText = false
}

function writeText(writer: TextWriter, html: string): void {
  const text = decodeEntities(html).replaceAll(/\s+/g, ' ')
  appendText(writer, writer.endsInSpace ? text.trimStart() : text)
}

function appendText(writer: TextWriter, text: string): void {
  if (text === '') return
  writer.line.push(text)
  writer.endsInSpace = text.endsWith(' ')
  writer.hasText ||= text.trim() !== ''
}

function startLink(writer: TextWriter, attributes: string): void {
  const [, quoted, apostrophed, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(attributes) ?? []
  const href = decodeEntities(quoted ?? apostrophed ?? bare ?? '').trim()
  const isWeb = /^https?:\/\//i.test(href)
  writer.link = isWeb ? { href, lineNumber: writer.lines.length, piece: writer.line.length } : null
}

/** Shows the address of a link whose text is something else, because the two may differ. */
function endLink(writer: TextWriter): void {
  const { link } = writer
  writer.link = null
  if (!link || link.lineNumber !== writer.lines.length) return
  const shown = writer.line.slice(link.piece).join('').trim()
  const isSame = shown.replace(/\/$/, '') === link.href.replace(/\/$/, '')
  if (shown !== '' && !isSame) appendText(writer, ` (${link.href})`)
}

/** Names and characters in turn. */
const NAMED_CHARACTERS =
  `amp & lt < gt > quot " apos ' euro € pound £ yen ¥ cent ¢ sect § copy © reg ® trade ™ deg ° plusmn ± ` +
  `micro µ middot · hellip … ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ laquo « ` +
  `raquo » bull • times × auml ä ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü szlig ß aacute á eacute é iacute í ` +
  `oacute ó uacute ú Aacute Á Eacute É agrave à egrave è igrave ì ograve ò ugrave ù Agrave À Egrave È ` +
  `acirc â ecirc ê icirc î ocirc ô ucirc û euml ë iuml ï ccedil ç Ccedil Ç ntilde ñ Ntilde Ñ atilde ã ` +
  `otilde õ aring å Aring Å aelig æ oslash ø oelig œ iexcl ¡ iquest ¿`

const NAMED = new Map([
  ['nbsp', ' '],
  ['shy', ''],
  ['zwj', ''],
  ['zwnj', ''],
  ...Array.from(NAMED_CHARACTERS.matchAll(/(\S+) (\S)/g), ([, name = '', character = '']): [string, string] => [
    name,
    character,
  ]),
])

/** Named characters of the usual European languages, and all numbered ones. An unknown name stays as it is. */
function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));?/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return NAMED.get(String(name)) ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16)
    const isCharacter = code > 31 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : ' '
  })
}

/** Without more than one empty line in a row. */
function tidyText(text: string): string {
  return text
    .replaceAll(/^(?:> )+$/gm, (quote) => quote.trimEnd())
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}
