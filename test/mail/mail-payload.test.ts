import { describe, expect, test } from 'vitest'
import { formatMailAddress, parseMailAddress } from '../../src/connections/mail/mail-address.ts'
import { parseMail } from '../../src/connections/mail/mail-payload.ts'

const mail = { from: 'desk@shop.test', to: 'kim@example.com', subject: 'Hello', text: 'Hi' }

describe('addresses', () => {
  test.each([
    ['kim@example.com', '', 'kim@example.com'],
    ['  Kim Doe <kim@example.com> ', 'Kim Doe', 'kim@example.com'],
    ['"Doe, Kim \\"K\\"" <kim@example.com>', 'Doe, Kim "K"', 'kim@example.com'],
    ['Jörg <jörg@büro.example>', 'Jörg', 'jörg@büro.example'],
    ['<a.b+c@mail.example.com>', '', 'a.b+c@mail.example.com'],
  ])('%j is a mailbox', (text, name, address) => {
    expect(parseMailAddress(text)).toEqual({ name, address })
    expect(parseMailAddress(formatMailAddress({ name, address }))).toEqual({ name, address })
  })

  test.each([
    '',
    'kim',
    '@example.com',
    'kim@',
    'a@b.test, c@d.test',
    'Doe, Kim <kim@example.com>',
    'kim@example.com\r\nBcc: all@example.com',
    'Kim\n <kim@example.com>',
    'Kim <kim@example.com> <eve@example.com>',
    'kim@exa mple.com',
    'kim@-example.com',
    `${'k'.repeat(65)}@example.com`,
    'kim@example..com',
    'kim\u202e@example.com',
  ])('%j is not one mailbox', (text) => {
    expect(parseMailAddress(text)).toBeNull()
  })
})

describe('payloads', () => {
  test('every field is read', () => {
    const full = { ...mail, cc: ['A <a@x.test>', 'b@x.test'], bcc: 'c@x.test', html: '<p>', reply_to: 'r@x.test' }
    expect(parseMail({ ...full, headers: { References: '<1@x.test>' } })).toEqual({
      from: { name: '', address: 'desk@shop.test' },
      to: [{ name: '', address: 'kim@example.com' }],
      cc: [
        { name: 'A', address: 'a@x.test' },
        { name: '', address: 'b@x.test' },
      ],
      bcc: [{ name: '', address: 'c@x.test' }],
      replyTo: { name: '', address: 'r@x.test' },
      subject: 'Hello',
      text: 'Hi',
      html: '<p>',
      headers: { References: '<1@x.test>' },
      attachments: [],
    })
  })

  test.each<[object, RegExp]>([
    [{ to: [] }, /^field 'to' must not be empty$/],
    [{ to: 'kim' }, /^field 'to' must be one mail address/],
    [{ to: 7 }, /^field 'to' must be a mail address or a list of them$/],
    [{ cc: ['a@x.test', 'b'] }, /^field 'cc\.1' must be one mail address/],
    [{ subject: 'a\r\nBcc: eve@x.test' }, /^field 'subject' must not contain line breaks/],
    [{ subject: '' }, /^field 'subject'/],
    [{ subject: 'x'.repeat(901) }, /^field 'subject'/],
    [{ text: undefined }, /^field 'text' or 'html' is required$/],
    [{ text: 'x'.repeat(1_000_001) }, /^field 'text'/],
    [{ headers: { 'X-A': 'a\nb' } }, /^field 'headers\.X-A' must not contain line breaks/],
    [{ headers: { 'X A': 'a' } }, /header name/],
    [{ headers: { 'X-A\r\nBcc': 'a' } }, /header name/],
    [{ headers: { bcc: 'eve@x.test' } }, /must not be a header that the service writes/],
    [{ headers: { 'Content-Type': 'text/html' } }, /must not be a header that the service writes/],
    [{ to: Array(51).fill('kim@example.com') }, /at most 50 addresses/],
    [{ body: 'Hi' }, /body/],
    [{ attachments: ['file_1'] }, /field 'attachments.0' must be a file/],
    [{ attachments: { $file: 'file_1' } }, /attachments/],
  ])('%j is refused', (change, message) => {
    expect(() => parseMail(JSON.parse(JSON.stringify({ ...mail, ...change })))).toThrow(message)
  })
})
