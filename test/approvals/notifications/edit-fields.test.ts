import { expect, test } from 'vitest'
import { listEditFields, toEdited } from '../../../src/approvals/notifications/edit-fields.ts'

test('the top-level texts and numbers of an action can be edited in a chat', () => {
  const fields = listEditFields('action', { text: 'a', amount: 5, tags: [], nested: {}, isUrgent: true, none: null })
  expect(fields.map(({ name, kind, value }) => [name, kind, value])).toEqual([
    ['text', 'text', 'a'],
    ['amount', 'number', '5'],
  ])
  expect(listEditFields('tool', { text: 'a' })).toEqual([])
  expect(listEditFields('action', 'a text')).toEqual([])
})

test('the answer to a question is a text, a number or one of its options', () => {
  const question = { question: 'Which?', schema: null, options: null }
  expect(listEditFields('question', question)).toMatchObject([{ name: 'answer', kind: 'text', options: null }])
  expect(listEditFields('question', { ...question, schema: { type: 'integer' } })).toMatchObject([{ kind: 'number' }])
  expect(listEditFields('question', { ...question, schema: { type: 'object' } })).toEqual([])
  const withOptions = listEditFields('question', { ...question, options: ['red', 'blue'] })
  expect(toEdited(withOptions, [{ field: 0, value: '1' }])).toEqual({ answer: 'blue' })
})

test('only changed fields are an edit, and a number must be a number', () => {
  const fields = listEditFields('action', { text: 'a', amount: 5 })
  const inputs = (text: string, amount: string) => [
    { field: 0, value: text },
    { field: 1, value: amount },
  ]
  expect(toEdited(fields, inputs('a', '5'))).toEqual({})
  expect(toEdited(fields, inputs('', ' 7.5 '))).toEqual({ text: '', amount: 7.5 })
  for (const wrong of ['', 'x', 'Infinity', '1,5']) {
    expect(() => toEdited(fields, inputs('a', wrong))).toThrow("'amount' must be a number")
  }
  expect(() => toEdited(fields, [{ field: 9, value: 'x' }])).toThrow('no such field')
})
