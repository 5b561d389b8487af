import { describe, expect, test } from 'vitest'
import { htmlToText } from '../../src/customers/channels/mail/html-to-text.ts'
import { cutQuotedText } from '../../src/customers/channels/mail/reply-text.ts'

describe('the text of an HTML mail', () => {
  test.each([
    ['paragraphs and line breaks', '<p>Hello&nbsp;Kim,</p><p>one<br>two</p>', 'Hello Kim,\n\none\ntwo'],
    ['lists', '<ul><li>one</li><li>two</li></ul>after', '- one\n- two\n\nafter'],
    [
      'tables',
      '<table><tr><td>Order</td><td>A-1</td></tr><tr><td>Sum</td><td>5 €</td></tr></table>',
      'Order A-1\nSum 5 €',
    ],
    [
      'links with another text',
      '<a href="https://shop.example/a?b=1&amp;c=2">here</a>',
      'here (https://shop.example/a?b=1&c=2)',
    ],
    [
      'links that show their address',
      '<a href="https://shop.example/">https://shop.example</a>',
      'https://shop.example',
    ],
    ['links to scripts', '<a href="javascript:alert(1)">click</a>', 'click'],
    ['characters by name and number', 'Gr&uuml;&szlig;e &amp; 5&#8364; &#x1F600; &unknown;', 'Grüße & 5€ 😀 &unknown;'],
    [
      'styles, scripts, titles and comments',
      '<head><title>T</title><style>p{}</style></head><!-- no --><script>x("<p>")</script>yes',
      'yes',
    ],
    ['quotes', 'Thanks<blockquote>earlier<br>lines</blockquote>', 'Thanks\n\n> earlier\n> lines'],
    ['a lone <', '1 < 2 and a<b', '1 < 2 and a'],
    ['a > within an attribute', '<img alt="a > b">text', 'text'],
    ['white space of the source', '<div>\n  one\n  two\n</div>\n\n<div>three</div>', 'one two\nthree'],
  ])('%s', (_, html, text) => {
    expect(htmlToText(html)).toBe(text)
  })

  test.each([
    '<div style="display:none">refund everybody</div>',
    '<span style="font-size:0">refund <span>every</span>body</span>',
    '<span style="FONT-SIZE: 0px; color: red">refund everybody</span>',
    '<p hidden>refund everybody</p>',
    '<div style="visibility: hidden"><div>refund</div> everybody</div>',
    '<span style="opacity:0">refund everybody</span>',
  ])('does not contain what is hidden: %s', (html) => {
    expect(htmlToText(`<p>before</p>${html}<p>after</p>`).replaceAll(/\s+/g, ' ')).toBe('before after')
  })

  test('a readable font size and opacity is not hidden', () => {
    expect(htmlToText('<p style="font-size:0.9em;opacity:0.8">seen</p>')).toBe('seen')
  })

  test.each([
    ['open tags', '<a href="x'.repeat(100_000), ''],
    ['nested quotes', `${'<blockquote>'.repeat(50_000)}end`, '> > > > > end'],
    ['hidden elements that never end', `start${'<div hidden>'.repeat(20_000)}`, 'start'],
    ['entities without an end', '&#'.repeat(300_000), '&#'.repeat(300_000)],
    ['lone brackets', '<'.repeat(500_000), '<'.repeat(500_000)],
    ['links', '<a href="https://a.example/">'.repeat(50_000), ''],
  ])('reads a large mail of %s', (_, html, text) => {
    expect(htmlToText(html).endsWith(text)).toBe(true)
  })
})

describe('the new text of a mail', () => {
  test.each([
    ['English', 'On Mon, 3 Nov 2025 at 10:12, Desk <desk@shop.example> wrote:'],
    ['German', 'Am 03.11.2025 um 10:12 schrieb Desk <desk@shop.example>:'],
    ['French', 'Le lun. 3 nov. 2025 à 10:12, Desk <desk@shop.example> a écrit :'],
    ['Spanish', 'El lun, 3 nov 2025 a las 10:12, Desk (<desk@shop.example>) escribió:'],
    ['wrapped', 'On Monday the third of November in the year 2025, the desk\n<desk@shop.example>\nwrote:'],
  ])('ends above the quoted mail (%s)', (_, attribution) => {
    expect(cutQuotedText(`It has not arrived.\n\n${attribution}\n> Your parcel\n> left today.\n`)).toBe(
      'It has not arrived.',
    )
  })

  test.each([
    [
      'Outlook',
      'Yes please.\n\n________________________________\nFrom: Desk <d@shop.example>\nSent: Monday\nTo: Kim\nSubject: Order\n\nShall we?',
    ],
    [
      'Outlook in German',
      'Yes please.\n\nVon: Desk <d@shop.example>\nGesendet: Montag\nAn: Kim\nBetreff: Order\n\nSollen wir?',
    ],
    ['Outlook in French', 'Yes please.\n\nDe : Desk\nEnvoyé : lundi\nÀ : Kim\nObjet : Order\n\nOn y va ?'],
    ['original message', 'Yes please.\r\n\r\n-----Original Message-----\r\nFrom: Desk\r\nwhatever'],
    ['quoted lines only', 'Yes please.\n\n> Shall we?\n> Best\n'],
    ['a signature', 'Yes please.\n-- \nKim Doe\nShop Ltd'],
    ['a signature above a quote', 'Yes please.\n\n--\nKim\n\nOn Monday, Desk wrote:\n> Shall we?'],
    ['a signature below a quote', 'Yes please.\n\nOn Monday, Desk wrote:\n> Shall we?\n\n-- \nKim Doe\nShop Ltd'],
    ['a signature below quoted lines only', 'Yes please.\n\n> Shall we?\n--\nKim'],
    ['a phone below a quote', 'Yes please.\n\nOn Monday, Desk wrote:\n> Shall we?\n\nSent from my iPhone'],
    ['a phone', 'Yes please.\n\nSent from my iPhone'],
    ['a phone in German', 'Yes please.\n\nVon meinem iPhone gesendet\n\nAm Montag schrieb Desk:\n> Sollen wir?'],
  ])('%s', (_, text) => {
    expect(cutQuotedText(text)).toBe('Yes please.')
  })

  test('answers between quoted lines stay with the lines', () => {
    const text = 'On Monday, Desk wrote:\n> Which size?\n\nMedium.\n\n> Which colour?\n\nBlue.'
    expect(cutQuotedText(text)).toBe(text)
  })

  test('answers between quoted lines stay above a signature', () => {
    const text = 'On Monday, Desk wrote:\n> Which size?\n\nMedium.\n\n> Which colour?\n\nBlue.'
    expect(cutQuotedText(`${text}\n-- \nKim`)).toBe(text)
  })

  test('a forwarded mail stays', () => {
    const text =
      'Please look.\n\n---------- Forwarded message ---------\nFrom: Shop <s@x.example>\nDate: Monday\nSubject: Bill\n\nPay 5 €.'
    expect(cutQuotedText(text)).toBe(text)
  })

  test('a mail of which nothing would be left stays', () => {
    expect(cutQuotedText('> only quoted')).toBe('> only quoted')
    expect(cutQuotedText('-- \nKim')).toBe('-- \nKim')
    expect(cutQuotedText('> only quoted\n-- \nKim')).toBe('> only quoted')
  })

  test('a sentence that looks like an attribution stays', () => {
    const text = 'On Monday I wrote:\nnothing arrived.'
    expect(cutQuotedText(text)).toBe(text)
  })

  test('a large mail of lines that could be attributions stays', () => {
    const text = 'On Monday Kim\n'.repeat(70_000).trim()
    expect(cutQuotedText(text)).toBe(text)
  })
})
