/** Input that is cheap to send and expensive to read. Each shape fills about `bytes`. */
type Shape = (bytes: number) => string

/** Repeats the piece until the text has about this length. */
const fill = (piece: string, bytes: number): string => piece.repeat(Math.ceil(bytes / piece.length))

/** Texts of a message, for each place where a stranger writes text. */
export const TEXTS: Record<string, Shape> = {
  'empty lines': (bytes) => fill('\n', bytes),
  'lines with a carriage return': (bytes) => fill('\r\n', bytes),
  'lines of one letter': (bytes) => fill('x\n', bytes),
  'starts of attributions': (bytes) => fill('on x\n', bytes),
  'heads of mails': (bytes) => fill('from: x\n', bytes),
  'quoted lines': (bytes) => fill('> ', bytes),
  'lines of quotes': (bytes) => fill('>\n', bytes),
  'separators without an end': (bytes) => fill('-', bytes),
  'signature lines': (bytes) => fill('-- \n', bytes),
  'one long word': (bytes) => fill('a', bytes),
  'only blanks': (bytes) => fill(' ', bytes),
  'invisible characters': (bytes) => fill('\u200b', bytes / 3),
  'emoji with joiners': (bytes) => fill('👩‍💻', bytes / 11),
  'links of Slack': (bytes) => fill('<@', bytes),
  ampersands: (bytes) => fill('&amp;', bytes),
}

/** HTML bodies of mails. */
export const HTML: Record<string, Shape> = {
  'open tags': (bytes) => fill('<b>', bytes),
  'nested quotes': (bytes) => fill('<blockquote>', bytes),
  'hidden elements without an end': (bytes) => fill('<div hidden>', bytes),
  'comments without an end': (bytes) => fill('<!--', bytes),
  'attributes without an end': (bytes) => `<a ${fill('x=" ', bytes)}`,
  entities: (bytes) => fill('&#x41;', bytes),
  'angle brackets': (bytes) => fill('<', bytes),
  links: (bytes) => fill('<a href=https://a.example>', bytes),
}

/** Bodies that are JSON, or nearly. */
export const JSON_BODIES: Record<string, Shape> = {
  'empty lists': (bytes) => `[${fill('[],', bytes)}[]]`,
  'empty objects in a field': (bytes) => `{"a":[${fill('{},', bytes)}{}]}`,
  numbers: (bytes) => `{"a":[${fill('1,', bytes)}1]}`,
  'deep lists': (bytes) => fill('[', bytes),
  'deep objects': (bytes) => fill('{"a":', bytes),
  'many fields': (bytes) => `{${Array.from({ length: bytes / 10 }, (_, n) => `"f${n}":1`).join(',')}}`,
  'one field many times': (bytes) => `{${fill('"a":1,', bytes)}"a":1}`,
  escapes: (bytes) => `{"a":"${fill('\\u0041', bytes)}"}`,
  'a string without an end': (bytes) => `{"a":"${fill('a', bytes)}`,
  digits: (bytes) => `{"a":${fill('9', bytes)}}`,
  blanks: (bytes) => `{${fill(' ', bytes)}}`,
  lines: (bytes) => `{${fill('\n', bytes)}}`,
}

const URLENCODED = 'application/x-www-form-urlencoded'
const multipart = (boundary: string) => `multipart/form-data; boundary=${boundary}`
const tinyPart = (boundary: string) => `--${boundary}\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n`

/** Bodies of forms with their content type. */
export const FORMS: Record<string, { contentType: string; body: Shape }> = {
  'fields without names': { contentType: URLENCODED, body: (bytes) => fill('&', bytes) },
  'tiny fields': { contentType: URLENCODED, body: (bytes) => fill('a=&', bytes) },
  'percent signs': { contentType: URLENCODED, body: (bytes) => `a=${fill('%', bytes)}` },
  'plus signs': { contentType: URLENCODED, body: (bytes) => `a=${fill('+', bytes)}` },
  'tiny parts': { contentType: multipart('b'), body: (bytes) => fill(tinyPart('b'), bytes) },
  'boundaries only': { contentType: multipart('b'), body: (bytes) => fill('--b\r\n', bytes) },
  'two boundaries': { contentType: `${multipart('a')}; boundary=b`, body: (bytes) => fill(tinyPart('b'), bytes) },
  'no boundary': { contentType: 'multipart/form-data', body: (bytes) => fill(tinyPart('b'), bytes) },
  'headers without an end': {
    contentType: multipart('b'),
    body: (bytes) => `--b\r\n${fill('x: y\r\n', bytes)}`,
  },
  'tiny files': {
    contentType: multipart('b'),
    body: (bytes) =>
      fill('--b\r\ncontent-disposition: form-data; name="attachment-1"; filename="a"\r\n\r\nx\r\n', bytes),
  },
  'a boundary that nearly matches': {
    contentType: multipart('b'.repeat(60)),
    body: (bytes) => fill(`\r\n--${'b'.repeat(59)}`, bytes),
  },
}

const mail = (contentType: string, body: string, more = '') =>
  `From: Kim <kim@example.com>\r\n${more}Content-Type: ${contentType}\r\n\r\n${body}`

/** Raw mails. */
export const MAILS: Record<string, Shape> = {
  'empty parts': (bytes) => mail('multipart/mixed; boundary=b', fill('--b\r\n\r\nx\r\n', bytes)),
  'parts of a folded boundary': (bytes) => mail('multipart/mixed;\r\n boundary*0=b', fill('--b\r\n\r\n\r\n', bytes)),
  'parts in parts': (bytes) =>
    Array.from({ length: bytes / 60 }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`)
      .join('')
      .replace(/^/, 'From: kim@example.com\r\n'),
  'mails in mails': (bytes) => fill('From: kim@example.com\r\nContent-Type: message/rfc822\r\n\r\n', bytes),
  'line feeds': (bytes) => mail('text/plain', fill('\n', bytes)),
  'short lines': (bytes) => mail('text/plain', fill('x\r\n', bytes)),
  'headers without an end': (bytes) => fill('X-A: b\r\n', bytes).replace(/^/, 'From: kim@example.com\r\n'),
  addresses: (bytes) => mail('text/plain', 'x', `To: ${fill('a@b.example,', bytes)}\r\n`),
  'address groups': (bytes) => mail('text/plain', 'x', `To: ${fill('g:a@b.example;', bytes)}\r\n`),
  'quotes in an address': (bytes) => mail('text/plain', 'x', `To: ${fill('"(', bytes)}\r\n`),
  'encoded words': (bytes) => mail('text/plain', 'x', `Subject: ${fill('=?utf-8?q?=41?= ', bytes)}\r\n`),
  references: (bytes) => mail('text/plain', 'x', `References: ${fill('<a@b.example> ', bytes)}\r\n`),
  parameters: (bytes) => mail(`multipart/mixed; ${fill('a=b; ', bytes)}boundary=b`, 'x'),
  'base64 that is none': (bytes) => mail('text/plain', fill('%', bytes), 'Content-Transfer-Encoding: base64\r\n'),
  'base64 with padding': (bytes) =>
    mail('application/pdf', fill('QQ==\r\n', bytes / 4), 'Content-Transfer-Encoding: base64\r\n'),
  'quoted printable': (bytes) =>
    mail('text/plain', fill('=41', bytes), 'Content-Transfer-Encoding: quoted-printable\r\n'),
  'an escape of a character set': (bytes) => mail('text/plain; charset=iso-2022-jp', fill('\u001b$B', bytes)),
  'HTML of open tags': (bytes) => mail('text/html', fill('<b>', bytes)),
  'starts of attributions': (bytes) => mail('text/plain', fill('on x ', bytes)),
  'a bounce of many mails': (bytes) =>
    mail(
      'multipart/report; report-type=delivery-status; boundary=b',
      `--b\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\n${fill(
        `--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: ${'<a@b.example> '.repeat(100)}\r\n`,
        bytes,
      )}--b--`,
    ),
  'a bounce of ids': (bytes) =>
    mail(
      'multipart/report; report-type=delivery-status; boundary=b',
      `--b\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\n--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: ${fill('<a@b.example> ', bytes)}\r\n--b--`,
    ),
}

/** Every body, of whatever type. */
export const BODIES: Shape[] = [
  ...Object.values(JSON_BODIES),
  ...Object.values(FORMS).map(({ body }) => body),
  ...Object.values(MAILS),
]

const asMails = (contentType: string, shapes: Record<string, Shape>): [string, Shape][] =>
  Object.entries(shapes).map(([name, shape]) => [
    `${contentType} of ${name}`,
    (bytes) => mail(contentType, shape(bytes)),
  ])

/** Raw mails, also with every text. */
export const RAW_MAILS: Record<string, Shape> = {
  ...MAILS,
  ...Object.fromEntries([...asMails('text/plain', TEXTS), ...asMails('text/html', HTML)]),
}
