import { expect, test } from 'vitest'
import { testApp } from '../../../app.ts'
import { scriptedAgentFolder, loggedLines, runScript } from '../scripted-agent.ts'

const FILES = {
  'desk/wedge.json': { wedge: 'desk', title: 'Desk', tools: ['files'], task_types: { file: {} } },
  'desk/rehearsals/file.json': [
    { call: { tool: 'write_file', input: { path: 'out/a.txt', content: 'a' } } },
    { output: { wrote: '{{last}}' } },
  ],
}
const agents = scriptedAgentFolder()

test('the process driver runs the bundled harness with its files, and warns', async () => {
  const app = await testApp({ store: 'sqlite', wedges: FILES })
  const { id } = await app.createTask({ wedge: 'desk', task_type: 'file' })
  const task = await app.finished(id)
  expect(task.status).toBe('succeeded')
  expect((task.artifacts as { name: string }[]).map(({ name }) => name)).toEqual(['output.json', 'a.txt'])
  expect(loggedLines(app, 'WARNING').map(({ msg }) => msg)).toContainEqual(
    expect.stringContaining('not a security boundary'),
  )
  const { body: meta } = await app.call('GET', '/v1/meta')
  expect(JSON.stringify(meta)).toContain('not a security boundary')
})

test('the process driver runs each custom agent in its folder with a separate home, and warns', async () => {
  const app = await testApp({ store: 'sqlite', env: agents })
  const js = `const fs = require('node:fs')
    fs.mkdirSync(process.env.HOME + '/out', { recursive: true })
    fs.writeFileSync(process.env.HOME + '/out/' + brief.task.id + '.txt', 'mine')
    const gate = await ask('POST', '/v1/internal/gate', { tool: 'look' }, brief.service.gate_token)
    say({ output: { home: process.env.HOME, files: fs.readdirSync('.'), gate: gate.body, variables: Object.keys(process.env).filter((name) => name.startsWith('SVC')).sort() } })`
  const both = await Promise.all([runScript(app, js), runScript(app, js)])
  for (const { task } of both) {
    expect(task).toMatchObject({
      status: 'succeeded',
      output: { files: ['start.cjs'], gate: { decision: 'allowed' }, variables: ['SVC_BASE_URL', 'SVC_MCP_URL'] },
    })
    expect(task.artifacts.map(({ name }: { name: string }) => name)).toEqual(['output.json', `${task.id}.txt`])
  }
  expect(both[0].task.output.home).not.toBe(both[1].task.output.home)
  expect(loggedLines(app, 'WARNING: a program runs without a sandbox')).not.toEqual([])
})
