import { expect, test } from 'vitest'
import { completeInput } from '../../console/src/ui/complete-input.ts'
import { inferInputFields } from '../../console/src/pages/run/infer-input-fields.ts'
import { filledRows, firstRows, hasTooFewItems } from '../../console/src/ui/list-rows.ts'
import { fieldsOfSchema, type InputField } from '../../console/src/ui/schema-fields.ts'
import { uiText } from '../../console/src/ui/text.ts'

const text = (more: object = {}) => ({ type: 'string', ...more })

const QUESTION_FORM = { text: uiText.question.fields, asksForJson: false }

/** The fields of the form of a question. */
const questionFields = (properties: object, required: string[] = []) =>
  fieldsOfSchema({ type: 'object', required, properties: { ...properties } }, {}, QUESTION_FORM)

const typesOf = (properties: object) => questionFields(properties).map(({ name, type }) => [name, type])

test('no property of a question is asked for as JSON', () => {
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

test('a schema without a type has the type of its other keywords, also in a list', () => {
  const person = { required: ['name'], properties: { name: text() } }
  const properties = {
    host: person,
    guests: { items: person },
    rows: { type: 'array', items: { items: { type: 'number' } } },
    size: { enum: [1, 2] },
    sizes: { type: 'array', items: { enum: [1, 2, 3] } },
    agreed: { enum: [true, false] },
    people: { type: 'object', additionalProperties: person },
    none: { enum: [] },
  }
  expect(typesOf(properties)).toEqual([
    ['host', 'object'],
    ['guests', 'list'],
    ['rows', 'list'],
    ['size', 'number'],
    ['sizes', 'list'],
    ['agreed', 'boolean'],
    ['people', 'entries'],
    ['none', 'string'],
  ])
  const [host, guests, rows, size, sizes, , people] = questionFields(properties)
  expect(host?.fields.map(({ name, required }) => [name, required])).toEqual([['name', true]])
  expect(guests?.item?.type).toBe('object')
  expect(rows?.item?.item?.type).toBe('number')
  expect(size?.choices?.map(({ value }) => value)).toEqual([1, 2])
  expect(sizes?.item?.choices?.map(({ value }) => value)).toEqual([1, 2, 3])
  expect(people?.item?.fields.map(({ type }) => type)).toEqual(['string', 'object'])
})

test('the input of a task has JSON for objects and lists whose values can be anything', () => {
  const input_schema = {
    type: 'object',
    properties: {
      customer: { type: 'object' },
      parts: { type: 'array' },
      host: { type: 'object', properties: { city: text(), more: { type: 'object' } } },
      names: { type: 'array', items: text() },
    },
  }
  const manifest = { wedge: 'orders', title: 'Orders', task_types: { check: { input_schema } } }
  const sample = { customer: { n: 3, ok: true, address: { city: 'Bern' } } }
  const fields = inferInputFields(manifest, 'check', sample)
  expect(fields.map(({ name, type }) => [name, type])).toEqual([
    ['customer', 'json'],
    ['parts', 'json'],
    ['host', 'object'],
    ['names', 'lines'],
  ])
  expect(fields[2]?.fields.map(({ type }) => type)).toEqual(['string', 'json'])
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
  const [prices] = questionFields({
    prices: { type: 'object', additionalProperties: { type: 'number', title: 'Price' } },
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
  const fields = questionFields(
    { agreed: box, guests: list, others: list, labels: { type: 'object' }, host: guest, pet: guest },
    ['agreed', 'guests', 'labels', 'host'],
  )
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

test('a limit of a list that is negative or no integer is no limit', () => {
  const limits = (schema: object) =>
    questionFields({ list: { type: 'array', ...schema } }).map(({ minItems, maxItems }) => [minItems, maxItems])
  expect(limits({ minItems: -2, maxItems: -1 })).toEqual([[0, null]])
  expect(limits({ minItems: 1.5, maxItems: Number.POSITIVE_INFINITY })).toEqual([[0, null]])
  expect(limits({ minItems: '2', maxItems: 0 })).toEqual([[0, 0]])
})

/** A required list, the rows that it starts with, and what it sends if a person changes nothing. */
function requiredList(schema: object) {
  const fields = questionFields({ list: { type: 'array', ...schema } }, ['list'])
  const [list] = fields
  if (!list?.item) throw new Error('no list')
  return { list, rows: firstRows(list, list.item), sent: completeInput(fields, {})['list'] }
}

test('a list starts with at most ten rows, whatever its schema asks for, and lists in lists share them', () => {
  const numbers = { type: 'array', minItems: 1e10, items: { type: 'integer' } }
  expect(requiredList(numbers).rows).toHaveLength(10)
  const nested = { ...numbers, items: numbers }
  expect(requiredList(nested).rows).toHaveLength(1)
  expect(
    requiredList({ minItems: 4, items: { type: 'object', properties: { nested, small: numbers } } }).rows,
  ).toHaveLength(1)
  expect(requiredList({ minItems: 4, items: { ...numbers, minItems: 2 } }).rows).toHaveLength(4)
})

test('the rows of boxes that a list must have are no, and other rows without a value are too few', () => {
  const box = { type: 'boolean' }
  expect(requiredList({ minItems: 2, items: box }).sent).toEqual([false, false])
  expect(requiredList({ items: box })).toMatchObject({ rows: [], sent: [] })
  const onlyBoxes = { properties: { vegan: box, late: box } }
  const no = { vegan: false, late: false }
  expect(requiredList({ minItems: 2, items: onlyBoxes }).sent).toEqual([no, no])
  const { list, rows } = requiredList({ minItems: 2, items: { properties: { name: text(), vegan: box } } })
  const isTooShort = (field: InputField, values: typeof rows) => hasTooFewItems(field, filledRows(values).length)
  expect(rows).toEqual([undefined, undefined])
  expect(isTooShort(list, rows)).toBe(true)
  expect(isTooShort(list, [{ name: 'Ada' }, {}])).toBe(true)
  expect(isTooShort(list, [{ name: 'Ada' }, { vegan: false }])).toBe(false)
  expect(isTooShort({ ...list, required: false }, rows)).toBe(false)
})
