import { expect, test } from 'vitest'
import { completeInput } from '../../console/src/ui/complete-input.ts'
import { fieldsOfSchema } from '../../console/src/ui/schema-fields.ts'

const text = (more: object = {}) => ({ type: 'string', ...more })

const typesOf = (properties: object) =>
  fieldsOfSchema({ type: 'object', properties: { ...properties } }).map(({ name, type }) => [name, type])

test('no property of a schema is asked for as JSON', () => {
  const person = { type: 'object', properties: { name: text() } }
  const properties = {
    names: { type: 'array', items: text() },
    anything: { type: 'array' },
    sizes: { type: 'array', items: { enum: ['small', 'large'] } },
    ages: { type: 'array', items: { type: 'integer' } },
    guests: { type: 'array', items: person },
    rows: { type: ['array', 'null'], items: { type: 'array', items: { type: 'number' } } },
    labels: { type: 'object' },
    prices: { type: 'object', additionalProperties: { type: 'number' } },
    nothing: { type: 'object', additionalProperties: false },
  }
  expect(typesOf(properties)).toEqual([
    ['names', 'lines'],
    ['anything', 'lines'],
    ['sizes', 'list'],
    ['ages', 'list'],
    ['guests', 'list'],
    ['rows', 'list'],
    ['labels', 'entries'],
    ['prices', 'entries'],
    ['nothing', 'object'],
  ])
})

test('a list has the field of its items, named by their title, and its limits', () => {
  const guest = { type: 'object', title: 'Guest', required: ['name'], properties: { name: text(), age: {} } }
  const [guests, ages] = fieldsOfSchema({
    properties: {
      guests: { type: 'array', minItems: 1, maxItems: 3, items: guest },
      ages: { type: 'array', items: { type: 'integer' } },
    },
  })
  expect(guests).toMatchObject({ label: 'Guests', minItems: 1, maxItems: 3 })
  expect(guests?.item).toMatchObject({ label: 'Guest', type: 'object', required: true })
  expect(guests?.item?.fields.map(({ label, required }) => [label, required])).toEqual([
    ['Name', true],
    ['Age', false],
  ])
  expect(ages).toMatchObject({ minItems: 0, maxItems: null })
  expect(ages?.item).toMatchObject({ label: 'Ages', type: 'number', isInteger: true })
})

test('an object without properties is a list of names and values', () => {
  const [prices] = fieldsOfSchema({
    properties: { prices: { type: 'object', additionalProperties: { type: 'number', title: 'Price' } } },
  })
  expect(prices?.item?.fields.map(({ label, type, required }) => [label, type, required])).toEqual([
    ['Name', 'string', true],
    ['Price', 'number', true],
  ])
})

test('an answer gets an unchecked required box as false, and a required list that was left empty', () => {
  const box = { type: 'boolean' }
  const guest = { type: 'object', required: ['vegan'], properties: { name: text(), vegan: box } }
  const list = { type: 'array', items: guest }
  const fields = fieldsOfSchema({
    required: ['agreed', 'guests', 'labels', 'host'],
    properties: { agreed: box, guests: list, others: list, labels: { type: 'object' }, host: guest, pet: guest },
  })
  expect(completeInput(fields, {})).toEqual({ agreed: false, guests: [], labels: {}, host: { vegan: false } })
  const input = { agreed: true, guests: [{ name: 'Ada' }], labels: { a: 'b' }, pet: { name: 'Rex' } }
  expect(completeInput(fields, input)).toEqual({
    agreed: true,
    guests: [{ name: 'Ada', vegan: false }],
    labels: { a: 'b' },
    host: { vegan: false },
    pet: { name: 'Rex', vegan: false },
  })
})
