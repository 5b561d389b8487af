import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeFiles } from '../../app.ts'
import { ROOT } from '../../docs/pages.ts'
import { callSvc } from './call-svc.ts'
import { temporaryFolder } from './run-svc.ts'

const ORDER = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }

const MANIFEST = {
  wedge: 'desk',
  task_types: {
    'hand-out': {
      input_schema: {
        type: 'object',
        required: ['order', 'class'],
        properties: {
          order: ORDER,
          class: { enum: ['a', "b's", 3, 0.5, null] },
          note: { type: ['string', 'null'], description: 'ends */ here' },
          lines: { type: 'array', items: { type: 'object', properties: { amount: { type: 'integer' } } } },
        },
      },
      output_schema: { type: 'array', items: { type: ['boolean', 'number'] } },
    },
    hand_out: {},
    hand_out2: {},
    '2fa': { output_schema: { type: 'object' } },
    odd: {
      input_schema: {
        type: 'object',
        required: ['from', 'a-b', 'a_b', '日本', 'by_id', 'state', 'tree'],
        properties: {
          from: { type: 'string' },
          'a-b': { type: 'object', properties: { x: { type: 'string' } } },
          a_b: { type: 'object', properties: { y: { type: 'string' } } },
          日本: ORDER,
          by_id: { type: 'object', additionalProperties: { $ref: '#/$defs/order' } },
          state: {
            oneOf: [
              { type: 'object', required: ['kind'], properties: { kind: { const: 'open' } } },
              {
                type: 'object',
                required: ['kind', 'at'],
                properties: { kind: { const: 'closed' }, at: { type: 'string' } },
              },
            ],
          },
          tree: { $ref: '#/$defs/tree' },
        },
        $defs: {
          order: ORDER,
          tree: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } } } },
        },
      },
      output_schema: {
        type: 'object',
        allOf: [ORDER, { required: ['__ok'], properties: { __ok: { type: 'boolean' } } }],
      },
    },
  },
}

const PYTHON_USE = `
from typing import get_type_hints
import types_of_desk as desk
assert get_type_hints(desk.HandOutInput)["order"] is desk.HandOutInputOrder
hints = get_type_hints(desk.HandOutInput, include_extras=True)
assert {name for name, hint in hints.items() if "NotRequired" in str(hint)} == {"note", "lines"}
odd = get_type_hints(desk.OddInput)
assert set(get_type_hints(odd["a-b"])) == {"x"} and set(get_type_hints(odd["a_b"])) == {"y"}
assert set(get_type_hints(odd["日本"])) == {"id"}
assert odd["by_id"] == dict[str, desk.OddInputByIdValue]
assert odd["state"] == desk.OddInputState | desk.OddInputState2
assert set(get_type_hints(desk.OddOutput)) == {"id", "__ok"}
assert desk.HandOut22Input == desk.HandOut2Input == "Any"
`

const TYPESCRIPT_USE = `
import type { HandOut, HandOut2, HandOut22, Odd } from './desk.ts'
const task: HandOut = {
  wedge: 'desk',
  task_type: 'hand-out',
  input: { order: { id: 'A-1' }, class: "b's", note: null, lines: [{ amount: 1 }] },
  output: [true, 2],
}
// @ts-expect-error an order needs an id
const wrong: HandOut['input'] = { order: {}, class: 'a' }
const odd: Odd['input'] = {
  from: 'x', 'a-b': { x: '1' }, a_b: { y: '2' }, 日本: { id: '1' }, by_id: { a: { id: '1' } },
  state: { kind: 'closed', at: 'now' }, tree: { children: [{}] },
}
// @ts-expect-error a closed state has a time
const state: Odd['input']['state'] = { kind: 'closed' }
const output: Odd['output'] = { id: '1', __ok: true }
const types: [HandOut2['task_type'], HandOut22['task_type']] = ['hand_out', 'hand_out2']
export const all = [task, wrong, odd, state, output, types]
`

function writeDesk(): string {
  const cwd = temporaryFolder()
  writeFiles(join(cwd, 'wedges/desk'), { 'wedge.json': MANIFEST })
  return cwd
}

test('wedge types prints TypeScript that the compiler checks values against', async () => {
  const cwd = writeDesk()
  const { code, stdout } = await callSvc(['wedge', 'types', 'desk'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain('export interface HandOut2 {\n')
  expect(stdout).toContain('export interface Type2fa {\n')
  writeFiles(cwd, { 'desk.ts': stdout, 'use.ts': TYPESCRIPT_USE })
  const tsc = join(ROOT, 'node_modules/typescript-native/bin/tsc')
  const options = ['--strict', '--noEmit', '--allowImportingTsExtensions', '--module', 'nodenext', '--types', '']
  const checked = spawnSync(process.execPath, [tsc, ...options, join(cwd, 'use.ts')], { cwd })
  expect(checked.stdout.toString()).toBe('')
  expect(checked.status).toBe(0)
})

test('wedge types prints Python that the interpreter accepts', async () => {
  const cwd = writeDesk()
  const { code, stdout } = await callSvc(['wedge', 'types', 'desk', '--language', 'python'], { cwd })
  expect(code).toBe(0)
  writeFileSync(join(cwd, 'types_of_desk.py'), stdout)
  const checked = spawnSync('python3', ['-B', '-c', PYTHON_USE], { cwd })
  expect(checked.stderr.toString()).toBe('')
})

test('wedge types refuses an unknown language and a wedge with errors', async () => {
  const cwd = writeDesk()
  const unknown = await callSvc(['wedge', 'types', 'desk', '--language', 'cobol'], { cwd })
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('languages: typescript, python') })
  writeFiles(join(cwd, 'wedges/desk'), { 'wedge.json': { wedge: 'desk' } })
  const broken = await callSvc(['wedge', 'types', 'desk'], { cwd })
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('wedge check') })
})
