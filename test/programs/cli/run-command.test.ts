import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { sharedGatedApp, gatedWedgeFiles } from '../../approvals/decisions/gated-app.ts'
import { addFile } from '../../work/files/add-file.ts'
import { callSvc } from './call-svc.ts'
import { spawnShell, runSvc } from './run-svc.ts'

const input = JSON.stringify({ connection: 'crm', action: 'crm:update', payload: { name: 'Kim', amount: 80 } })

describe('svc run', () => {
  const types = { act: {}, thrice: {}, tool: {}, say: {}, strict: { output_schema: { type: 'string' } } }
  const wedges = {
    ...gatedWedgeFiles('gate', { task_types: types }),
    'gate/rehearsals/strict.json': [{ output: 1 }],
    'gate/rehearsals/say.json': [{ output: '{{input}}' }],
  }
  const gatedApp = sharedGatedApp('sqlite', { wedges })
  const run = (args: string[], stdin: string | null = '') =>
    callSvc(['run', 'gate', ...args], { url: gatedApp().url, stdin })
  /** For what a process does at its end, and for all of its stdin. */
  const runProcess = (args: string[], stdin: string | null = '') =>
    runSvc(['run', 'gate', ...args], { url: gatedApp().url, stdin })

  test('run shows the timeline, asks for the approval and prints the output of the task', async () => {
    const { code, stdout, stderr } = await runProcess(['act', '--input', input], 'a\n')
    expect(stderr).toContain('crm:update through crm (risk high')
    expect(stderr).toContain('"amount": 80')
    expect(stdout).toMatch(/▶ gate\/act started · sandbox: process/)
    expect(stdout).toMatch(/\? crm:update through crm needs approval apr_/)
    expect(stdout).toMatch(/✓ crm:update approved/)
    expect(stdout).toMatch(/■ succeeded after/)
    expect(stdout).toContain('"status": 200')
    expect(stdout).not.toContain('\u001b')
    expect(code).toBe(0)
  })

  test('run sends the payload with the edited fields', async () => {
    const { code, stdout } = await run(['act', '--input', input], 'e\n{"amount": 5}\n')
    expect(code).toBe(0)
    expect(stdout).toContain('crm:update approved with edits')
    expect(JSON.parse(gatedApp().outside.received.at(-1)?.body ?? '')).toEqual({ name: 'Kim', amount: 5 })
  })

  test('run gives the task the files of --files', async () => {
    const files = [await addFile(gatedApp(), 'a.txt', 'alpha'), await addFile(gatedApp(), 'b.txt', 'beta')]
    const ids = files.map(({ id }) => id)
    const { code, lines } = await run(['say', '--json', '--files', ids.join(', ')])
    expect(code).toBe(0)
    expect(lines.at(-1).data.files.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect((await run(['say', '--files', 'file_unknown'])).stderr).toContain('no such file: file_unknown')
  })

  test('run asks again after an invalid answer or an edit that is not JSON', async () => {
    const { code, stderr } = await run(['act', '--input', input], 'perhaps\ne\n{oops\na\n')
    expect(stderr).toContain('type a, e, v or r')
    expect(stderr).toContain('the edit is not JSON')
    expect(code).toBe(0)
  })

  test('after a rejection the exit code is 5 and the reason is stored', async () => {
    const { code, lines } = await runProcess(['act', '--json', '--input', input], 'r\ntoo much\n')
    expect(code).toBe(5)
    const id = lines.find(({ type }) => type === 'approval.requested').data.approval_id
    const { body } = await gatedApp().call('GET', `/v1/approvals/${id}`)
    expect(body).toMatchObject({ status: 'rejected', reason: 'too much' })
  })

  test('without an answer on stdin the approval can be decided with another command', async () => {
    const running = run(['act', '--input', input])
    const waiting = async () => (await callSvc(['approvals', '--json'], { url: gatedApp().url })).lines[0]
    let approval = await waiting()
    while (!approval) approval = await waiting()
    const listed = (await callSvc(['approvals'], { url: gatedApp().url })).stdout
    expect(listed).toMatch(/ACTION +CONNECTION +RISK/)
    expect(listed).toMatch(/ crm:update +crm +high /)
    const decided = await callSvc(
      ['approvals', 'approve', approval.approval_id, '--edit', '{"amount":7}', '--note', 'fine'],
      {
        url: gatedApp().url,
      },
    )
    expect(decided).toMatchObject({ code: 0, stdout: `${approval.approval_id} approved\n` })
    const { code, stderr } = await running
    expect(stderr).toContain(`svc approvals approve ${approval.approval_id}`)
    expect(code).toBe(0)
    expect(JSON.parse(gatedApp().outside.received.at(-1)?.body ?? '')).toMatchObject({ amount: 7 })
    const again = await callSvc(['approvals', 'reject', approval.approval_id, '--reason', 'late'], {
      url: gatedApp().url,
    })
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('approval already decided (approved)') })
  })

  test('a request can be sent back with a note, and the task continues', async () => {
    const running = run(['act', '--json', '--input', input])
    const waiting = async () => (await gatedApp().call('GET', '/v1/approvals?status=pending')).body.data[0]
    let approval = await waiting()
    while (!approval) approval = await waiting()
    const revised = await callSvc(['approvals', 'revise', approval.approval_id, 'Less.'], { url: gatedApp().url })
    expect(revised).toMatchObject({ code: 0, stdout: `${approval.approval_id} sent back\n` })
    expect((await running).code).toBe(0)
    const { body } = await gatedApp().call('GET', `/v1/approvals/${approval.approval_id}`)
    expect(body).toMatchObject({ status: 'rejected', revise: true, reason: 'Less.' })
    const { stdout } = await callSvc(['approvals', '--status', 'all'], { url: gatedApp().url })
    expect(stdout).toMatch(new RegExp(`${approval.approval_id} +sent back`))
    const log = await callSvc(['tail', body.task_id], { url: gatedApp().url })
    expect(log.stdout).toContain('sent back with a note')
  })

  test('with --input - run says how to decide; an edit of a payload that cannot be edited is refused', async () => {
    const tool = JSON.stringify({ name: 'send_it', args: { a: 1 } })
    const running = runProcess(['tool', '--input', '-'], tool)
    const waiting = async () => (await gatedApp().call('GET', '/v1/approvals?status=pending')).body.data[0]
    let approval = await waiting()
    while (!approval) approval = await waiting()
    const approve = ['approvals', 'approve', approval.approval_id]
    expect(approval.allowed_decisions).not.toContain('edit')
    const edited = await callSvc([...approve, '--edit', '{"a":2}'], { url: gatedApp().url })
    expect(edited).toMatchObject({ code: 1, stderr: expect.stringContaining('this payload cannot be edited') })
    expect((await callSvc(approve, { url: gatedApp().url })).code).toBe(0)
    expect((await running).stderr).toContain(`decide with \`svc ${approve.join(' ')}\``)
  })

  test('run withdraws the question when the approval is decided elsewhere', async () => {
    const running = runProcess(['act', '--input', input], null)
    const waiting = async () => (await gatedApp().call('GET', '/v1/approvals?status=pending')).body.data[0]
    let approval = await waiting()
    while (!approval) approval = await waiting()
    await gatedApp().call('POST', `/v1/approvals/${approval.approval_id}/reject`, {})
    expect(await running).toMatchObject({ code: 5, stdout: expect.stringContaining('✗ rejected after') })
  })

  test('with --json run prints each event as a JSON line, and the task last', async () => {
    const { lines, stdout } = await run(['tool', '--json', '--input', '{"name":"look_up","args":{"a":1}}'])
    expect(lines.length).toBe(stdout.trimEnd().split('\n').length)
    expect(lines.slice(0, -1).map(({ id }) => id)).toEqual(lines.slice(0, -1).map((_, at) => at + 1))
    expect(lines.at(-2)).toMatchObject({ type: 'task.finished' })
    expect(lines.at(-1)).toMatchObject({ type: 'task', data: { status: 'succeeded', output: { look_up: { a: 1 } } } })
  })

  test('--input - reads stdin, and --detach returns without watching the task', async () => {
    const { code, stdout } = await runProcess(['tool', '--detach', '--input', '-'], '{"name":"look_up","args":{"b":2}}')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^task_\w+\n$/)
    const tail = await callSvc(['tail', stdout.trim(), '--json', '--after', '1'], { url: gatedApp().url })
    expect(tail.code).toBe(0)
    expect(tail.lines[0].id).toBe(2)
    expect(tail.lines.at(-1).data.output).toEqual({ look_up: { b: 2 } })
  })

  test('run and tail print the output as JSON without control characters', async () => {
    const output = '\u009b2J\u007f\u202egnp.exe\u{e0041} ä 🙂'
    const { stdout, stderr } = await run(['say', '--input', JSON.stringify(output)])
    const tailed = await callSvc(['tail', /task_\w+/.exec(stderr)?.[0] ?? ''], { url: gatedApp().url })
    for (const shown of [stdout, tailed.stdout]) {
      expect(shown).not.toMatch(/[\x7f-\x9f\p{Cf}]/u)
      expect(shown).toContain(' ä 🙂"')
      expect(JSON.parse(shown.trim().split('\n').at(-1) ?? '')).toBe(output)
    }
  })

  test('a slow reader of stdout gets all of a long output', async () => {
    const output = Array.from({ length: 4_000 }, (_, n) => `line ${n} of a long answer`)
    const child = spawnShell(
      '"$0" "$1" run gate say --json --input - | { read -r first; sleep 1; tail -n 1; }',
      gatedApp().url,
    )
    child.stdin.end(JSON.stringify(output))
    const last = JSON.parse(await text(child.stdout))
    expect(last).toMatchObject({ type: 'task', data: { status: 'succeeded', output } })
  })

  test('stdout that cannot be written is an error; a reader that closes the pipe is not', async () => {
    const full = spawnShell('"$0" "$1" tasks > /dev/full; echo $?', gatedApp().url)
    expect(await text(full.stdout)).toBe('1\n')
    expect(await text(full.stderr)).toContain('the output cannot be written: ENOSPC')
    const enough = spawnShell('set -o pipefail; "$0" "$1" audit export | head -c 5 >&2; echo $?', gatedApp().url)
    expect(await text(enough.stdout)).toBe('0\n')
  })

  test('the exit code is 1 when the task fails', async () => {
    const { code, stdout } = await runProcess(['strict'])
    expect(stdout).toMatch(/✗ failed after .*: the output does not match its schema/)
    expect(code).toBe(1)
    const wrong = await runProcess(['nosuch'])
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("unknown task type 'nosuch'") })
  })

  test('tasks, keys and approvals print tables, and JSON lines with --json', async () => {
    const options = { url: gatedApp().url }
    const table = await callSvc(['tasks', '--status', 'rejected', '--wedge', 'gate'], options)
    expect(table.stdout).toMatch(/^TASK +STATUS +WEDGE\/TYPE .*\ntask_\w+ +rejected +gate\/act /)
    const json = await callSvc(['tasks', '--json', '--limit', '2'], options)
    expect(json.lines.map(({ wedge }) => wedge)).toEqual(['gate', 'gate'])
    const created = await callSvc(['keys', 'create', 'laptop', '--role', 'viewer', '--json'], options)
    expect(created.lines[0]).toMatchObject({ name: 'laptop', role: 'viewer', key: expect.stringMatching(/^svc_key_/) })
    const viewerRun = await callSvc(['run', 'gate', 'act', '--key', created.lines[0].key], options)
    expect(viewerRun.code).toBe(4)
    expect((await callSvc(['keys'], options)).stdout).toContain('laptop')
    expect((await callSvc(['keys', 'delete', created.lines[0].id], options)).code).toBe(0)
    expect((await callSvc(['keys'], options)).stdout).not.toContain('laptop')
    expect((await callSvc(['approvals'], options)).stderr).toBe('no pending approvals\n')
    expect((await callSvc(['approvals', '--status', 'expired'], options)).stderr).toBe('no approvals\n')
  })
})
