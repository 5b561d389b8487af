import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { callSvc } from './call-svc.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

test('exit code 3: the service is not running, and the hint says how to start it', async () => {
  const { code, stderr } = await runSvc(['tasks'], { url: 'http://127.0.0.1:1' })
  expect(code).toBe(3)
  expect(stderr).toMatch(/cannot reach http:\/\/127.0.0.1:1: .*\n.*svc serve/)
})

test.each([
  [[], 'no command given'],
  [['nosuch'], "unknown command 'nosuch'"],
  [['taks'], "unknown command 'taks'\n     did you mean: svc tasks"],
  [['approve', 'apr_1'], 'did you mean: svc approvals approve'],
  [['approvals', 'aprove', 'apr_1'], 'did you mean: svc approvals approve'],
  [['help', 'taks'], 'did you mean: svc tasks'],
  [['wedge'], 'svc wedge check'],
  [['wedge', 'chek'], "unknown command 'wedge chek'\n     did you mean: svc wedge check"],
  [['wedge', 'zzz'], "unknown command 'wedge zzz'\n     svc wedge new, svc wedge check"],
  [['tail'], 'missing argument TASK\n     usage: svc tail TASK'],
  [['run', 'desk'], 'missing argument TYPE\n     usage: svc run WEDGE TYPE'],
  [['tail', 'task_1', 'task_2'], "unexpected argument 'task_2'\n     usage: svc tail TASK"],
  [['tasks', '--colour'], 'unknown option --colour\n     see: svc help tasks\n'],
  [['tasks', '--stauts=queued'], 'unknown option --stauts (did you mean --status?)\n     see: svc help tasks\n'],
  [['tasks', '-url', 'x'], 'unknown option -url (did you mean --url?)'],
  [['tasks', '--limit', '-1'], 'option --limit needs a value (for a value that begins with a dash: --limit=-1)\n'],
  [['tasks', '--limit'], 'option --limit needs a value\n'],
  [['tail', 'a', '--after', '--url'], 'option --after needs a value\n'],
  [['tasks', '--help=1'], 'option --help takes no value'],
  [['--ulr', 'x', 'tasks'], 'unknown option --ulr (did you mean --url?)\n     see: svc help\n'],
  [['--status', 'queued', 'tasks'], 'option --status must come after the command'],
  [['tasks', '--url', 'somewhere'], "'somewhere' is not an http or https URL"],
  [['run', 'a', 'b', '--input', '/no/such/file'], "cannot read the file '/no/such/file'"],
  [['run', 'a', 'b', '--input', '{oops'], 'option --input is not JSON'],
])('exit code 2: %j', async (args, message) => {
  const { code, stdout, stderr } = await callSvc(args)
  expect(stderr).toContain(message)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})

test('exit code 3: the URL belongs to another web server', async () => {
  const otherServer = createServer((_, response) => response.end('<h1>Welcome</h1>'))
  await new Promise<void>((resolve) => otherServer.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void otherServer.close())
  const address = otherServer.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address?.port}`
  const { code, stdout, stderr } = await runSvc(['tasks'], { url })
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
  expect(stderr).toContain(`${url} is not an Agent Work Service`)
})

test('errors show neither an invalid API key nor a URL with a password', async () => {
  const url = 'http://127.0.0.1:1'
  for (const key of ['svc_key_hush\nhush', 'svc_key_hush€']) {
    const { code, stderr } = await callSvc(['tasks'], { url, env: { SVC_KEY: key } })
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining('the API key contains invalid characters'),
    })
    expect(stderr).not.toContain('hush')
  }
  for (const urlWithSecret of [
    'http://me:hush@127.0.0.1:1',
    'http://127.0.0.1:1?key=hush',
    'http://127.0.0.1:1/#hush',
  ]) {
    const { code, stderr } = await callSvc(['--url', urlWithSecret, 'tasks'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('must contain only a host and a path'),
    })
    expect(stderr).not.toContain('hush')
  }
})

test('the error for a misspelt option does not show its value, which may be a key', async () => {
  expect((await runSvc(['tasks', '--kye=svc_key_hush'])).stderr).not.toContain('hush')
})

test('common options are accepted before the command', async () => {
  const service = 'http://127.0.0.1:1'
  for (const args of [
    ['--url', service, '--json', 'tasks'],
    ['--json', `--url=${service}`, 'approvals', 'reject', 'apr_1'],
    ['--key', 'k', '--url', service, 'tail', 'task_1', '--json'],
  ]) {
    const { code, stderr } = await callSvc(args)
    expect(code).toBe(3)
    expect(JSON.parse(stderr).error).toContain(`cannot reach ${service}`)
  }
  expect((await callSvc(['--json', '--version'])).lines).toEqual([
    expect.objectContaining({ node: expect.any(String) }),
  ])
  expect((await callSvc(['--help', 'run'])).stdout).toContain('usage: svc run WEDGE TYPE')
})

test('with --json an error is one JSON line on stderr', async () => {
  const { code, stderr } = await callSvc(['tail', '--json'])
  expect(JSON.parse(stderr)).toEqual({
    error: 'missing argument TASK',
    advice: 'usage: svc tail TASK [--after EVENT]',
    exit: code,
  })
})

test('--version prints the version, and JSON with --json', async () => {
  expect((await runSvc(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+ \(Node\.js \d+/)
  expect((await runSvc(['version', '--json'])).lines).toEqual([
    { version: expect.stringMatching(/^\d+\./), node: process.versions.node },
  ])
})

test.each([
  ['wedge', '--help'],
  ['connection', '-h'],
  ['--help', 'audit'],
  ['vault', '--json', '--help'],
])('the help of a group of commands: svc %s %s', async (...args) => {
  const { code, stdout, stderr } = await callSvc(args)
  const group = args.find((word) => !word.startsWith('-'))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('usage: svc')
  expect(stdout).toContain(`  ${group} `)
  expect(stdout).not.toContain('doctor')
})

test('help lists every command and the exit codes', async () => {
  const { code, stdout } = await callSvc(['help'], { cwd: temporaryFolder() })
  expect(code).toBe(0)
  for (const word of ['serve', 'wedge rehearse', 'doctor', '5  the task was rejected']) expect(stdout).toContain(word)
  expect((await callSvc(['help', 'wedge', 'check'])).stdout).toContain('usage: svc wedge check [DIR|WEDGE]')
  const help = await callSvc(['help', 'connection', 'import', 'openapi'])
  expect(help.stdout).toContain('usage: svc connection import openapi FILE')
  expect((await callSvc(['run', '--help'])).stdout).toContain('usage: svc run WEDGE TYPE')
})
