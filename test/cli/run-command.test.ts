import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sharedGatedApp, gatedWedgeFiles } from '../approvals/gated-app.ts'
import { spawnShell, runSvc, temporaryFolder } from './run-svc.ts'

const input = JSON.stringify({ connection: 'crm', action: 'crm:update', payload: { name: 'Kim', amount: 80 } })

describe('svc run', () => {
  const types = { act: {}, thrice: {}, tool: {}, say: {}, strict: { output_schema: { type: 'string' } } }
  const wedges = {
    ...gatedWedgeFiles('gate', { task_types: types }),
    'gate/rehearsals/strict.json': [{ output: 1 }],
    'gate/rehearsals/say.json': [{ output: '{{input}}' }],
  }
  const desk = sharedGatedApp('sqlite', { wedges })
  const run = (words: string[], stdin: string | null = '') =>
    runSvc(['run', 'gate', ...words], { url: desk().url, stdin })

  test('shows the timeline, asks for the approval, and ends with the output of the task', async () => {
    const { code, stdout, stderr } = await run(['act', '--input', input], 'a\n')
    expect(stderr).toContain('crm:update through crm (risk high')
    expect(stderr).toContain('"amount": 80')
    expect(stdout).toMatch(/▶ gate\/act runs in process/)
    expect(stdout).toMatch(/\? crm:update through crm waits for approval apr_/)
    expect(stdout).toMatch(/✓ crm:update approved/)
    expect(stdout).toMatch(/■ succeeded after/)
    expect(stdout).toContain('"status": 200')
    expect(stdout).not.toContain('\u001b')
    expect(code).toBe(0)
  })

  test('sends the payload with the fields that were edited', async () => {
    const { code, stdout } = await run(['act', '--input', input], 'e\n{"amount": 5}\n')
    expect(code).toBe(0)
    expect(stdout).toContain('crm:update approved, with changes')
    expect(JSON.parse(desk().outside.received.at(-1)?.body ?? '')).toEqual({ name: 'Kim', amount: 5 })
  })

  test('asks again after an answer that is none, or an edit that is not JSON', async () => {
    const { code, stderr } = await run(['act', '--input', input], 'perhaps\ne\n{oops\na\n')
    expect(stderr).toContain('answer a, e or r')
    expect(stderr).toContain('this is not JSON')
    expect(code).toBe(0)
  })

  test('ends with 5 after a rejection, whose reason is kept', async () => {
    const { code, lines } = await run(['act', '--json', '--input', input], 'r\ntoo much\n')
    expect(code).toBe(5)
    const id = lines.find(({ type }) => type === 'approval.requested').data.approval_id
    const { body } = await desk().call('GET', `/v1/approvals/${id}`)
    expect(body).toMatchObject({ status: 'rejected', reason: 'too much' })
  })

  test('leaves the decision to others when nobody answers here', async () => {
    const running = run(['act', '--input', input])
    const waiting = async () => (await runSvc(['approvals', '--json'], { url: desk().url })).lines[0]
    let approval = await waiting()
    while (!approval) approval = await waiting()
    const listed = (await runSvc(['approvals'], { url: desk().url })).stdout
    expect(listed).toMatch(/ACTION +THROUGH +RISK/)
    expect(listed).toMatch(/ crm:update +crm +high /)
    const decided = await runSvc(
      ['approvals', 'approve', approval.approval_id, '--edit', '{"amount":7}', '--note', 'fine'],
      {
        url: desk().url,
      },
    )
    expect(decided).toMatchObject({ code: 0, stdout: `${approval.approval_id} approved\n` })
    const { code, stderr } = await running
    expect(stderr).toContain(`svc approvals approve ${approval.approval_id}`)
    expect(code).toBe(0)
    expect(JSON.parse(desk().outside.received.at(-1)?.body ?? '')).toMatchObject({ amount: 7 })
    const again = await runSvc(['approvals', 'reject', approval.approval_id, '--reason', 'late'], { url: desk().url })
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('approval already decided (approved)') })
  })

  test('says where to decide when stdin is taken by the input, and lets no edit pass that would be ignored', async () => {
    const tool = JSON.stringify({ name: 'send_it', args: { a: 1 } })
    const running = run(['tool', '--input', '-'], tool)
    const waiting = async () => (await desk().call('GET', '/v1/approvals?status=pending')).body.data[0]
    let approval = await waiting()
    while (!approval) approval = await waiting()
    const approve = ['approvals', 'approve', approval.approval_id]
    expect(approval.allowed_decisions).not.toContain('edit')
    const edited = await runSvc([...approve, '--edit', '{"a":2}'], { url: desk().url })
    expect(edited).toMatchObject({ code: 1, stderr: expect.stringContaining('this payload cannot be edited') })
    expect((await runSvc(approve, { url: desk().url })).code).toBe(0)
    expect((await running).stderr).toContain(`decide with \`svc ${approve.join(' ')}\``)
  })

  test('takes the question back when it is answered elsewhere', async () => {
    const running = run(['act', '--input', input], null)
    const waiting = async () => (await desk().call('GET', '/v1/approvals?status=pending')).body.data[0]
    let approval = await waiting()
    while (!approval) approval = await waiting()
    await desk().call('POST', `/v1/approvals/${approval.approval_id}/reject`, {})
    expect(await running).toMatchObject({ code: 5, stdout: expect.stringContaining('✗ rejected after') })
  })

  test('prints each event as a JSON line, and the task last', async () => {
    const { lines, stdout } = await run(['tool', '--json', '--input', '{"name":"look_up","args":{"a":1}}'])
    expect(lines.length).toBe(stdout.trimEnd().split('\n').length)
    expect(lines.slice(0, -1).map(({ id }) => id)).toEqual(lines.slice(0, -1).map((_, at) => at + 1))
    expect(lines.at(-2)).toMatchObject({ type: 'task.finished' })
    expect(lines.at(-1)).toMatchObject({ type: 'task', data: { status: 'succeeded', output: { look_up: { a: 1 } } } })
  })

  test('reads the input from stdin, and --detach leaves the task to itself', async () => {
    const { code, stdout } = await run(['tool', '--detach', '--input', '-'], '{"name":"look_up","args":{"b":2}}')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^task_\w+\n$/)
    const tail = await runSvc(['tail', stdout.trim(), '--json', '--after', '1'], { url: desk().url })
    expect(tail.code).toBe(0)
    expect(tail.lines[0].id).toBe(2)
    expect(tail.lines.at(-1).data.output).toEqual({ look_up: { b: 2 } })
  })

  test('the output reaches the terminal as JSON and without control characters, also by tail', async () => {
    const said = '\u009b2J\u007f\u202egnp.exe\u{e0041} ä 🙂'
    const { stdout, stderr } = await run(['say', '--input', JSON.stringify(said)])
    const tailed = await runSvc(['tail', /task_\w+/.exec(stderr)?.[0] ?? ''], { url: desk().url })
    for (const shown of [stdout, tailed.stdout]) {
      expect(shown).not.toMatch(/[\x7f-\x9f\p{Cf}]/u)
      expect(shown).toContain(' ä 🙂"')
      expect(JSON.parse(shown.trim().split('\n').at(-1) ?? '')).toBe(said)
    }
  })

  test('a reader that takes its time gets all of a long output', async () => {
    const said = Array.from({ length: 4_000 }, (_, n) => `line ${n} of a long answer`)
    const child = spawnShell(
      '"$0" "$1" run gate say --json --input - | { read -r first; sleep 1; tail -n 1; }',
      desk().url,
    )
    child.stdin.end(JSON.stringify(said))
    const last = JSON.parse(await text(child.stdout))
    expect(last).toMatchObject({ type: 'task', data: { status: 'succeeded', output: said } })
  })

  test('an output that cannot be written is an error, and a reader that has seen enough is none', async () => {
    const full = spawnShell('"$0" "$1" tasks > /dev/full; echo $?', desk().url)
    expect(await text(full.stdout)).toBe('1\n')
    expect(await text(full.stderr)).toContain('the output cannot be written: ENOSPC')
    const enough = spawnShell('set -o pipefail; "$0" "$1" audit export | head -c 5 >&2; echo $?', desk().url)
    expect(await text(enough.stdout)).toBe('0\n')
  })

  test('ends with 1 when the task fails', async () => {
    const { code, stdout } = await run(['strict'])
    expect(stdout).toMatch(/✗ failed after .*: the output does not match its schema/)
    expect(code).toBe(1)
    const wrong = await run(['nosuch'])
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("unknown task type 'nosuch'") })
  })

  test('lists tasks and keys, for people and for scripts', async () => {
    const surroundings = { url: desk().url }
    const people = await runSvc(['tasks', '--status', 'rejected', '--wedge', 'gate'], surroundings)
    expect(people.stdout).toMatch(/^TASK +STATUS +WORK .*\ntask_\w+ +rejected +gate\/act /)
    const scripts = await runSvc(['tasks', '--json', '--limit', '2'], surroundings)
    expect(scripts.lines.map(({ wedge }) => wedge)).toEqual(['gate', 'gate'])
    const made = await runSvc(['keys', 'create', 'laptop', '--role', 'viewer', '--json'], surroundings)
    expect(made.lines[0]).toMatchObject({ name: 'laptop', role: 'viewer', key: expect.stringMatching(/^svc_key_/) })
    const may = await runSvc(['run', 'gate', 'act', '--key', made.lines[0].key], surroundings)
    expect(may.code).toBe(4)
    expect((await runSvc(['keys'], surroundings)).stdout).toContain('laptop')
    expect((await runSvc(['keys', 'delete', made.lines[0].id], surroundings)).code).toBe(0)
    expect((await runSvc(['keys'], surroundings)).stdout).not.toContain('laptop')
    expect((await runSvc(['approvals'], surroundings)).stderr).toBe('no approvals wait\n')
    expect((await runSvc(['approvals', '--status', 'expired'], surroundings)).stderr).toBe('no approvals\n')
  })
})

describe('what goes wrong', () => {
  test('a service that is not there is 3, and the advice says how to start it', async () => {
    const { code, stderr } = await runSvc(['tasks'], { url: 'http://127.0.0.1:1' })
    expect(code).toBe(3)
    expect(stderr).toMatch(/cannot reach http:\/\/127.0.0.1:1: .*\n.*svc serve/)
  })

  test.each([
    [[], 'no command was given'],
    [['nosuch'], "there is no command 'nosuch'"],
    [['taks'], "there is no command 'taks'\n     do you mean svc tasks?"],
    [['approve', 'apr_1'], 'do you mean svc approvals approve?'],
    [['approvals', 'aprove', 'apr_1'], 'do you mean svc approvals approve?'],
    [['help', 'taks'], 'do you mean svc tasks?'],
    [['wedge'], 'svc wedge check'],
    [['wedge', 'chek'], "there is no command 'wedge chek'\n     do you mean svc wedge check?"],
    [['wedge', 'zzz'], "there is no command 'wedge zzz'\n     svc wedge new, svc wedge check"],
    [['tail'], 'TASK is missing\n     usage: svc tail TASK'],
    [['run', 'desk'], 'TYPE is missing\n     usage: svc run WEDGE TYPE'],
    [['tail', 'task_1', 'task_2'], "'task_2' is one word too many\n     usage: svc tail TASK"],
    [['tasks', '--colour'], 'tasks has no option --colour\n     svc help tasks\n'],
    [['tasks', '--stauts=queued'], 'tasks has no option --stauts\n     do you mean --status?'],
    [['tasks', '-url', 'x'], 'tasks has no option -url\n     do you mean --url?'],
    [['tasks', '--limit', '-1'], '--limit needs a value; one that begins with a dash is given as --limit=-1\n'],
    [['tasks', '--limit'], '--limit needs a value\n'],
    [['tail', 'a', '--after', '--url'], '--after needs a value\n'],
    [['tasks', '--help=1'], '--help takes no value'],
    [['--ulr', 'x', 'tasks'], 'there is no option --ulr\n     do you mean --url?'],
    [['--status', 'queued', 'tasks'], '--status must stand after the command'],
    [['tasks', '--url', 'somewhere'], "'somewhere' is not an address"],
    [['run', 'a', 'b', '--input', '/no/such/file'], "cannot read the file '/no/such/file'"],
    [['run', 'a', 'b', '--input', '{oops'], '--input is not JSON'],
  ])('a command that is not understood is 2: %j', async (words, message) => {
    const { code, stdout, stderr } = await runSvc(words)
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  test('an answer that is not of the service is 3: any server of pages answers something', async () => {
    const pages = createServer((_, response) => response.end('<h1>Welcome</h1>'))
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void pages.close())
    const address = pages.address()
    const url = `http://127.0.0.1:${typeof address === 'object' && address?.port}`
    const { code, stdout, stderr } = await runSvc(['tasks'], { url })
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toContain(`${url} does not answer like the service`)
  })

  test('neither a key that cannot be sent nor an address with a password is shown', async () => {
    const url = 'http://127.0.0.1:1'
    for (const key of ['svc_key_hush\nhush', 'svc_key_hush€']) {
      const { code, stderr } = await runSvc(['tasks'], { url, env: { SVC_KEY: key } })
      expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('the key has characters') })
      expect(stderr).not.toContain('hush')
    }
    for (const more of ['http://me:hush@127.0.0.1:1', 'http://127.0.0.1:1?key=hush', 'http://127.0.0.1:1/#hush']) {
      const { code, stderr } = await runSvc(['--url', more, 'tasks'])
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('more than a host and a path') })
      expect(stderr).not.toContain('hush')
    }
  })

  test('an option that is misspelt does not show its value: it may be a key', async () => {
    expect((await runSvc(['tasks', '--kye=svc_key_hush'])).stderr).not.toContain('hush')
  })

  test('the options of every command may stand before it', async () => {
    const service = 'http://127.0.0.1:1'
    for (const words of [
      ['--url', service, '--json', 'tasks'],
      ['--json', `--url=${service}`, 'approvals', 'reject', 'apr_1'],
      ['--key', 'k', '--url', service, 'tail', 'task_1', '--json'],
    ]) {
      const { code, stderr } = await runSvc(words)
      expect(code).toBe(3)
      expect(JSON.parse(stderr).error).toContain(`cannot reach ${service}`)
    }
    expect((await runSvc(['--json', '--version'])).lines).toEqual([
      expect.objectContaining({ node: expect.any(String) }),
    ])
    expect((await runSvc(['--help', 'run'])).stdout).toContain('usage: svc run WEDGE TYPE')
  })

  test('errors are a JSON line on stderr for scripts', async () => {
    const { code, stderr } = await runSvc(['tail', '--json'])
    expect(JSON.parse(stderr)).toEqual({
      error: 'TASK is missing',
      advice: 'usage: svc tail TASK [--after EVENT]',
      exit: code,
    })
  })

  test('its version is told, for people and for scripts', async () => {
    expect((await runSvc(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+ \(Node\.js \d+/)
    expect((await runSvc(['version', '--json'])).lines).toEqual([
      { version: expect.stringMatching(/^\d+\./), node: process.versions.node },
    ])
  })

  test('help tells of every command and of the exit codes', async () => {
    const { code, stdout } = await runSvc(['help'], { cwd: temporaryFolder() })
    expect(code).toBe(0)
    for (const word of ['serve', 'wedge rehearse', 'doctor', '5  the task was rejected']) expect(stdout).toContain(word)
    expect((await runSvc(['help', 'wedge', 'check'])).stdout).toContain('usage: svc wedge check [DIR|WEDGE]')
    expect((await runSvc(['run', '--help'])).stdout).toContain('usage: svc run WEDGE TYPE')
  })
})
