import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { ROOT } from '../docs/pages.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

const MANIFEST = {
  wedge: 'desk',
  task_types: {
    'hand-out': {
      input_schema: {
        type: 'object',
        required: ['order', 'class'],
        properties: {
          order: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
          class: { enum: ['a', "b's", 3, 0.5, null] },
          note: { type: ['string', 'null'], description: 'ends */ here' },
          lines: { type: 'array', items: { type: 'object', properties: { amount: { type: 'integer' } } } },
        },
      },
      output_schema: { type: 'array', items: { type: ['boolean', 'number'] } },
    },
    hand_out: {},
    '2fa': { output_schema: { type: 'object' } },
  },
}

const PYTHON_USE = `
from typing import get_type_hints
import types_of_desk as desk
assert get_type_hints(desk.HandOutInput)["order"] is desk.HandOutInputOrder
hints = get_type_hints(desk.HandOutInput, include_extras=True)
assert {name for name, hint in hints.items() if "NotRequired" in str(hint)} == {"note", "lines"}
`

const TYPESCRIPT_USE = `
import type { HandOut } from './desk.ts'
const task: HandOut = {
  wedge: 'desk',
  task_type: 'hand-out',
  input: { order: { id: 'A-1' }, class: "b's", note: null, lines: [{ amount: 1 }] },
  output: [true, 2],
}
// @ts-expect-error an order needs an id
const wrong: HandOut['input'] = { order: {}, class: 'a' }
export const both = [task, wrong]
`

function writeDesk(): string {
  const cwd = temporaryFolder()
  writeFiles(join(cwd, 'wedges/desk'), { 'wedge.json': MANIFEST })
  return cwd
}

test('wedge types prints TypeScript that the compiler checks values against', async () => {
  const cwd = writeDesk()
  const { code, stdout } = await runSvc(['wedge', 'types', 'desk'], { cwd })
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
  const { code, stdout } = await runSvc(['wedge', 'types', 'desk', '--language', 'python'], { cwd })
  expect(code).toBe(0)
  writeFileSync(join(cwd, 'types_of_desk.py'), stdout)
  const checked = spawnSync('python3', ['-B', '-c', PYTHON_USE], { cwd })
  expect(checked.stderr.toString()).toBe('')
})

test('wedge types refuses an unknown language and a wedge with errors', async () => {
  const cwd = writeDesk()
  const unknown = await runSvc(['wedge', 'types', 'desk', '--language', 'cobol'], { cwd })
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('languages: typescript, python') })
  writeFiles(join(cwd, 'wedges/desk'), { 'wedge.json': { wedge: 'desk' } })
  const broken = await runSvc(['wedge', 'types', 'desk'], { cwd })
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('wedge check') })
})
