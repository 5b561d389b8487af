import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeFiles } from '../../app.ts'
import { callSvc } from './call-svc.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

const turn = (tool: string, input: object = {}) => ({ call: { tool, input } })

test('wedge check and wedge rehearse accept calls of the tools of connections by name', async () => {
  const cwd = temporaryFolder()
  writeFiles(join(cwd, 'wedges/desk'), {
    'wedge.json': {
      wedge: 'desk',
      connections: ['crm', { name: 'shop', tools: ['refunds.create', 'charges.get'] }],
      task_types: { named: {}, general: {} },
    },
    'rehearsals/named.json': [
      turn('shop__charges_get', { charge: 'ch_1' }),
      turn('shop__refunds_create', { charge: 'ch_1', amount: 5 }),
      turn('crm__note'),
      { output: '{{last.status}}' },
    ],
    'rehearsals/general.json': [
      turn('act', { capability: 'shop:refunds.create', payload: {} }),
      turn('act', { capability: 'crm:anything', payload: {} }),
      { output: '{{last.status}}' },
    ],
  })
  const checked = await callSvc(['wedge', 'check'], { cwd })
  expect(checked).toMatchObject({ code: 0, stdout: '' })
  const { lines } = await runSvc(['wedge', 'rehearse', 'desk', '--json'], { cwd, env: { SVC_SANDBOX: 'process' } })
  expect(lines).toMatchObject([
    { task_type: 'named', passed: true, detail: '200' },
    { task_type: 'general', passed: true, detail: '200' },
  ])
})

test('wedge check names a tool that the wedge does not list, and a connection with an unknown key', async () => {
  const cwd = temporaryFolder()
  writeFiles(join(cwd, 'wedges/desk'), {
    'wedge.json': {
      wedge: 'desk',
      connections: [{ name: 'shop', tools: ['charges.get'] }],
      task_types: { say: {} },
    },
    'rehearsals/say.json': [turn('shop__refunds_create'), turn('mail__send'), { output: 1 }],
  })
  writeFiles(join(cwd, 'wedges/other'), {
    'wedge.json': { wedge: 'other', connections: [{ name: 'shop', tool: ['charges.get'] }], task_types: { say: {} } },
    'rehearsals/say.json': [{ output: 1 }],
  })
  const { stdout, code } = await callSvc(['wedge', 'check'], { cwd })
  expect(code).toBe(1)
  expect(stdout).toContain("this wedge has no tool 'shop__refunds_create'")
  expect(stdout).toContain("this wedge has no tool 'mail__send'")
  expect(stdout).toContain('connections.0 must be a name, or an object with name and tools')
})
