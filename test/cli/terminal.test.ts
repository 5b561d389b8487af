import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedGatedApp, gatedWedgeFiles } from '../approvals/gated-app.ts'
import { runOnTerminal, runSvc, temporaryFolder } from './run-svc.ts'

const input = JSON.stringify({ connection: 'crm', action: 'crm:update', payload: { name: 'Kim', amount: 80 } })

/** An editor that does one thing to its file. */
function scriptedEditor(script: string): string {
  const file = join(temporaryFolder(), 'editor')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

const DIM = '\u001b[2m'
const LOWER_AMOUNT = `sed -i.bak 's/"amount": 80/"amount": 5/' "$1"`

describe('a person at a terminal', () => {
  const desk = sharedGatedApp('sqlite', { wedges: gatedWedgeFiles('gate') })
  const sent = () => JSON.parse(desk().outside.received.at(-1)?.body ?? '')
  const run = ['run', 'gate', 'act', '--input', input]
  const waiting = async () => {
    const { id } = (
      await desk().call('POST', '/v1/tasks', { wedge: 'gate', task_type: 'act', input: JSON.parse(input) })
    ).body
    for (;;) {
      const [approval] = (await desk().call('GET', `/v1/approvals?status=pending&task_id=${id}`)).body.data
      if (approval) return { task: id, approval: approval.approval_id }
    }
  }

  test('edits the payload in their editor, sees colours, and gets the outcome', async () => {
    const { code, shown } = await runOnTerminal(run, ['[r]eject? ', 'e\r'], {
      url: desk().url,
      env: { EDITOR: scriptedEditor(LOWER_AMOUNT) },
    })
    expect(code).toBe(0)
    expect(sent()).toEqual({ name: 'Kim', amount: 5 })
    expect(shown).toContain(DIM)
  })

  test('gets no colours where NO_COLOR is set, and is asked again when nothing was changed', async () => {
    const surroundings = { url: desk().url, env: { VISUAL: scriptedEditor('true'), NO_COLOR: '1' } }
    const answers = ['[r]eject? ', 'e\r', 'nothing was changed', '', '[r]eject? ', 'a\r']
    const { code, shown } = await runOnTerminal(run, answers, surroundings)
    expect(code).toBe(0)
    expect(sent()).toEqual({ name: 'Kim', amount: 80 })
    expect(shown).not.toContain(DIM)
    expect(shown).toContain('✓ crm:update approved')
  })

  test('leaves with ctrl-C, while the task goes on and can be cancelled and tried again', async () => {
    const { code, shown } = await runOnTerminal(run, ['[r]eject? ', '\u0003'], { url: desk().url })
    expect(code).toBe(130)
    const id = /svc cancel (task_\w+)/.exec(shown)?.[1] ?? ''
    expect((await desk().call('GET', `/v1/tasks/${id}`)).body.status).toBe('awaiting_approval')
    const cancelled = await runSvc(['cancel', id], { url: desk().url })
    expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringContaining(id) })
    expect(await runSvc(['cancel', id], { url: desk().url })).toMatchObject({ code: 1 })
    const again = await runSvc(['retry', id], { url: desk().url, stdin: 'a\n' })
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('■ succeeded') })
    const left = await runSvc(['retry', id, '--detach'], { url: desk().url })
    const { body } = await desk().call('GET', `/v1/tasks/${left.stdout.trim()}`)
    expect(body).toMatchObject({ retry_of: id })
  })

  test('edits what waits from anywhere with `approvals edit`', async () => {
    const { approval } = await waiting()
    const edit = (script?: string) =>
      runSvc(['approvals', 'edit', approval], {
        url: desk().url,
        env: script === undefined ? {} : { EDITOR: scriptedEditor(script) },
      })
    expect(await edit()).toMatchObject({ code: 2, stderr: expect.stringContaining('neither VISUAL nor EDITOR') })
    expect(await edit('true')).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was changed') })
    expect(await edit('exit 3')).toMatchObject({ code: 1, stderr: expect.stringContaining('it ended with 3') })
    expect(await edit('echo "{" > "$1"')).toMatchObject({ code: 1, stderr: expect.stringContaining('not JSON') })
    expect(await edit('echo "{}" > "$1"')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("an edit cannot remove 'name', 'amount'"),
    })
    expect((await desk().call('GET', `/v1/approvals/${approval}`)).body.status).toBe('pending')
    expect(await edit(LOWER_AMOUNT)).toMatchObject({ code: 0, stdout: `${approval} approved with amount changed\n` })
    expect(await edit(LOWER_AMOUNT)).toMatchObject({ code: 1, stderr: expect.stringContaining('already decided') })
  })
})
