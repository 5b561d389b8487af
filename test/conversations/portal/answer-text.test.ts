import { expect, test } from 'vitest'
import { describeAnswer } from '../../../src/conversations/portal/answer-text.ts'

const GUEST = { type: 'object', title: 'Gast', properties: { name: { title: 'Name' }, vegan: { title: 'Vegan' } } }

test('an answer: a list of objects is one block for each, with the title of the items', () => {
  const schema = { properties: { guests: { title: 'Gäste', items: GUEST } } }
  const answer = {
    guests: [
      { name: 'Ada', vegan: true },
      { name: 'Bob', vegan: false },
    ],
  }
  const text = (language: 'de' | 'fr' | 'es', yes: string, no: string) =>
    expect(describeAnswer(answer, schema, language)).toBe(
      `Gast 1:\n  Name: Ada\n  Vegan: ${yes}\nGast 2:\n  Name: Bob\n  Vegan: ${no}`,
    )
  text('de', 'Ja', 'Nein')
  text('fr', 'Oui', 'Non')
  text('es', 'Sí', 'No')
})

test('an answer: items without a title have the label of their list, and a list that is the answer has numbers', () => {
  const items = { properties: { name: {} } }
  expect(describeAnswer({ party_guests: [{ name: 'Ada' }] }, { properties: { party_guests: { items } } }, 'en')).toBe(
    'Party guests 1:\n  Name: Ada',
  )
  expect(describeAnswer([{ name: 'Ada' }, { name: 'Bob' }], { items }, 'en')).toBe('1:\n  Name: Ada\n2:\n  Name: Bob')
})

test('an answer: objects and lists inside a list are indented below their label, and so is a text of several lines', () => {
  const answer = { guests: [{ home: { city: 'Bern' }, pets: [{ name: 'Rex' }], note: 'a\nb', tags: ['x', 'y'] }] }
  expect(describeAnswer(answer, { properties: { guests: { items: { title: 'Guest' } } } }, 'en')).toBe(
    'Guest 1:\n  Home:\n    City: Bern\n  Pets 1:\n    Name: Rex\n  Note:\n    a\n    b\n  Tags: x, y',
  )
})

test('an answer: a choice is its title, and an empty list or object is a dash', () => {
  const size = { title: 'Größe', oneOf: [{ const: 's', title: 'Klein' }, { const: 'l' }] }
  const schema = { properties: { size, other: size } }
  expect(describeAnswer({ size: 's', other: 'l', list: [], object: {} }, schema, 'de')).toBe(
    'Größe: Klein\nGröße: l\nList: –\nObject: –',
  )
})
