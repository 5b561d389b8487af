import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedGatedApp, gatedWedgeFiles } from '../../approvals/decisions/gated-app.ts'
import { runOnTerminal, runSvc, temporaryFolder } from './run-svc.ts'

const input = JSON.stringify({ connection: 'crm', action: 'crm:update', payload: { name: 'Kim', amount: 80 } })

/** Writes a script that acts as an editor, and returns its path. */
function scriptedEditor(script: string): string {
  const file = join(temporaryFolder(), 'editor')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

const DIM = '\u001b[2m'
const LOWER_AMOUNT = `sed -i.bak 's/"amount": 80/"amount": 5/' "$1"`

test('serve prints readable log lines on a terminal and ends with a box: address, key and a link that signs in', async () => {
  const env = {
    SVC_PORT: '0',
    SVC_SANDBOX: 'process',
    SVC_DATA_DIR: temporaryFolder(),
    SVC_WEDGES_DIR: temporaryFolder(),
  }
  const { code, shown } = await runOnTerminal(['serve'], ['└─', '\u0003'], { env })
  expect(code).toBe(0)
  expect(shown).toMatch(/^\d\d:\d\d:\d\d warn {2}SVC_SECRET_KEY is not set/m)
  expect(shown).not.toContain('"level":')
  const url = /listens on (\S+)/.exec(shown)?.[1]
  const key = /founder key, shown only once: (svc_key_\S+)/.exec(shown)?.[1]
  expect(shown).toContain(`│ Agent Work Service: ${url} `)
  expect(shown).toContain(`│   ${url}/#key=${key} `)
})

describe('svc on a terminal', () => {
  const gatedApp = sharedGatedApp('sqlite', { wedges: gatedWedgeFiles('gate') })
  const lastSent = () => JSON.parse(gatedApp().outside.received.at(-1)?.body ?? '')
  const run = ['run', 'gate', 'act', '--input', input]
  const createPendingApproval = async () => {
    const { id } = (
      await gatedApp().call('POST', '/v1/tasks', { wedge: 'gate', task_type: 'act', input: JSON.parse(input) })
    ).body
    for (;;) {
      const [approval] = (await gatedApp().call('GET', `/v1/approvals?status=pending&task_id=${id}`)).body.data
      if (approval) return { task: id, approval: approval.approval_id }
    }
  }

  test('run opens the payload in the editor and prints colours', async () => {
    const { code, shown } = await runOnTerminal(run, ['[r]eject? ', 'e\r'], {
      url: gatedApp().url,
      env: { EDITOR: scriptedEditor(LOWER_AMOUNT) },
    })
    expect(code).toBe(0)
    expect(lastSent()).toEqual({ name: 'Kim', amount: 5 })
    expect(shown).toContain(DIM)
  })

  test('run prints no colours with NO_COLOR, and asks again when the payload was not changed', async () => {
    const options = { url: gatedApp().url, env: { VISUAL: scriptedEditor('true'), NO_COLOR: '1' } }
    const responses = ['[r]eject? ', 'e\r', 'the payload was not changed', '', '[r]eject? ', 'a\r']
    const { code, shown } = await runOnTerminal(run, responses, options)
    expect(code).toBe(0)
    expect(lastSent()).toEqual({ name: 'Kim', amount: 80 })
    expect(shown).not.toContain(DIM)
    expect(shown).toContain('✓ crm:update approved')
  })

  test('after Ctrl-C the task continues and can be cancelled and retried', async () => {
    const { code, shown } = await runOnTerminal(run, ['[r]eject? ', '\u0003'], { url: gatedApp().url })
    expect(code).toBe(130)
    const id = /svc cancel (task_\w+)/.exec(shown)?.[1] ?? ''
    expect((await gatedApp().call('GET', `/v1/tasks/${id}`)).body.status).toBe('awaiting_approval')
    const cancelled = await runSvc(['cancel', id], { url: gatedApp().url })
    expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringContaining(id) })
    expect(await runSvc(['cancel', id], { url: gatedApp().url })).toMatchObject({ code: 1 })
    const again = await runSvc(['retry', id], { url: gatedApp().url, stdin: 'a\n' })
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('■ succeeded') })
    const left = await runSvc(['retry', id, '--detach'], { url: gatedApp().url })
    const { body } = await gatedApp().call('GET', `/v1/tasks/${left.stdout.trim()}`)
    expect(body).toMatchObject({ retry_of: id })
  })

  test('approvals edit opens a pending payload in the editor', async () => {
    const { approval } = await createPendingApproval()
    const edit = (script?: string) =>
      runSvc(['approvals', 'edit', approval], {
        url: gatedApp().url,
        env: script === undefined ? {} : { EDITOR: scriptedEditor(script) },
      })
    expect(await edit()).toMatchObject({ code: 2, stderr: expect.stringContaining('neither VISUAL nor EDITOR') })
    expect(await edit('true')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the payload was not changed'),
    })
    expect(await edit('exit 3')).toMatchObject({ code: 1, stderr: expect.stringContaining('exit code 3') })
    expect(await edit('echo "{" > "$1"')).toMatchObject({ code: 1, stderr: expect.stringContaining('not JSON') })
    expect(await edit('echo "{}" > "$1"')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("an edit cannot remove 'name', 'amount'"),
    })
    expect((await gatedApp().call('GET', `/v1/approvals/${approval}`)).body.status).toBe('pending')
    expect(await edit(LOWER_AMOUNT)).toMatchObject({ code: 0, stdout: `${approval} approved with edits: amount\n` })
    expect(await edit(LOWER_AMOUNT)).toMatchObject({ code: 1, stderr: expect.stringContaining('already decided') })
  })
})
