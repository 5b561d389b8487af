import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fillPlaceholders, rehearsalProblems } from '../../../src/platform/contract/rehearsal.ts'

describe('rehearsal problems', () => {
  test('a valid rehearsal has no problems', () => {
    const call = { tool: 'act', input: { order: '{{input.order}}' } }
    expect(
      rehearsalProblems([
        { say: 'I act.', call },
        { say: 'Done.', output: '{{last}}' },
      ]),
    ).toEqual([])
    expect(rehearsalProblems([{ say: 'The answer, in words.' }])).toEqual([])
    expect(rehearsalProblems([{ output: null }])).toEqual([])
  })

  test('the rehearsals of the example wedges have no problems', () => {
    const root = join(import.meta.dirname, '../../../wedges')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /rehearsals\/[^./]+\.json$/.test(file),
    )
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) expect(rehearsalProblems(JSON.parse(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  test.each<[unknown, string]>([
    [{}, 'must be a list of turns'],
    [[], 'must be a list of turns'],
    [['hi'], 'turn 1: must be an object'],
    [[{ output: 1, sya: 'x' }], "turn 1: unknown field 'sya'"],
    [[{ say: 1, output: 1 }], "turn 1: field 'say' must be a string"],
    [[{ call: 'act', output: 1 }], "turn 1: field 'call' must be an object"],
    [[{ call: { input: {} } }, { output: 1 }], "turn 1: field 'call.tool' must be a string"],
    [[{ call: { tool: 'act' } }, { output: 1 }], "turn 1: field 'call.input' must be an object"],
    [[{ call: { tool: 'act', input: {} }, output: 1 }], "turn 1: 'call' and 'output' exclude each other"],
    [[{ say: 'hi' }, { output: 1 }], "turn 1: must have a 'call': only the last turn ends the run"],
    [[{ call: { tool: 'act', input: {} } }], "turn 1: must have an 'output'"],
    [[{ output: '{{inptu.a}}' }], "turn 1: placeholder 'inptu.a' must begin with input or last"],
    [[{ output: '{{last.a}}' }], "turn 1: placeholder 'last.a' comes before any result"],
  ])('the rehearsal %j has the problem: %s', (script, problem) => {
    expect(rehearsalProblems(script)).toContain(problem)
  })
})

test.each([
  ['{{input.name}}', 'Ada'],
  ['{{  input.name }}', 'Ada'],
  ['{{ input }}', { name: 'Ada' }],
  ['{{ }}', null],
  ['{{}} and {{ input.other }}', '{{}} and '],
  ['Hello {{ input.name }}: {{input}}', 'Hello Ada: {"name":"Ada"}'],
  ['{{{input.name}}}', '{Ada}'],
])('the template %j becomes %j', (template, result) => {
  expect(fillPlaceholders(template, (root) => (root === 'input' ? { name: 'Ada' } : undefined))).toEqual(result)
})

test('a placeholder of very many blanks that does not end takes no time', () => {
  const template = `{{${' '.repeat(8_000)}{`
  expect(fillPlaceholders(template, () => 'found') === template).toBe(true)
  expect(rehearsalProblems([{ say: template, output: null }])).toEqual([])
})
