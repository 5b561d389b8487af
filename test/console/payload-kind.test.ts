import { expect, test } from 'vitest'
import { payloadFields, withEditedFields } from '../../console/src/pages/approvals/payload-fields.ts'
import { shownPayload } from '../../console/src/pages/approvals/payload-kind.ts'

test('payload: a mail has its addresses, subject and text, and keeps its other fields visible', () => {
  const mail = { to: ['a@b.c', 'd@e.f'], cc: 'g@h.i', subject: 'Hi', text: 'Hello', attachments: [{ $file: 'file_1' }] }
  expect(shownPayload(mail, null)).toEqual({
    kind: 'mail',
    addresses: [
      ['to', 'a@b.c, d@e.f'],
      ['cc', 'g@h.i'],
    ],
    subject: 'Hi',
    text: 'Hello',
    html: null,
    rest: { attachments: [{ $file: 'file_1' }] },
  })
})

test('payload: an amount is money, also in cents, and several amounts are a list of fields', () => {
  const cents = {
    value: 50,
    currency: 'USD',
    text: '$50.00',
    path: 'amount',
    unit: 'minor',
    currency_path: null,
  } as const
  expect(shownPayload({ amount: 5000, reason: 'broken' }, cents)).toEqual({
    kind: 'money',
    field: 'amount',
    money: { value: 50, currency: 'USD' },
    rest: { reason: 'broken' },
  })
  expect(shownPayload({ amount_usd: 84.5, order_id: 'A-1' }, null)).toMatchObject({
    kind: 'money',
    field: 'amount_usd',
  })
  expect(shownPayload({ amount: 1, total: 2 }, null)).toEqual({ kind: 'fields', rest: { amount: 1, total: 2 } })
})

test('payload: a text is a message, and values of other types are never dropped', () => {
  expect(shownPayload({ channel: '#ops', text: 'Hi', urgent: true }, null)).toEqual({
    kind: 'message',
    to: '#ops',
    text: 'Hi',
    rest: { urgent: true },
  })
  expect(shownPayload({ to: { id: 1 }, subject: 'Hi', text: 'Hello' }, null)).toEqual({
    kind: 'message',
    to: null,
    text: 'Hello',
    rest: { to: { id: 1 }, subject: 'Hi' },
  })
  expect(shownPayload({ text: 5 }, null)).toEqual({ kind: 'fields', rest: { text: 5 } })
})

test('edit form: it has the fields of the schema and those that only the payload has', () => {
  const schema = {
    properties: {
      status: { type: 'string', enum: ['open', 'closed'], description: 'The new status.' },
      count: { type: 'integer' },
      to: { anyOf: [{ type: 'string' }, { type: 'array' }] },
    },
    required: ['status'],
  }
  const fields = payloadFields({ status: 'open', to: ['a@b.c'], extra: true }, schema)
  expect(fields.map(({ name, type, required }) => [name, type, required])).toEqual([
    ['status', 'string', true],
    ['count', 'number', false],
    ['to', 'json', false],
    ['extra', 'boolean', false],
  ])
  expect(fields[0]).toMatchObject({
    choices: [
      { value: 'open', label: 'open' },
      { value: 'closed', label: 'closed' },
    ],
    hint: 'The new status.',
  })
})

test('edit form: an emptied text is sent as an empty text, and an emptied number gets its proposed value', () => {
  expect(withEditedFields({ subject: 'Hi', count: 3 }, {})).toEqual({ subject: '', count: 3 })
  expect(withEditedFields({ subject: 'Hi' }, { subject: 'Hi', cc: 'a@b.c' })).toEqual({ subject: 'Hi', cc: 'a@b.c' })
})
