import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { knowledgeApps } from './knowledge-app.ts'

/** An agent whose output is the skills, knowledge and instructions of its brief. */
const AGENT = `
import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { skills, knowledge, instructions } = JSON.parse(line)
  console.log(JSON.stringify({ output: { skills, knowledge, instructions } }))
  break
}`
const dir = mkdtempSync(join(tmpdir(), 'svc-agent-'))
writeFileSync(join(dir, 'agent.mjs'), AGENT)
// A cell may run as another user.
chmodSync(dir, 0o755)
afterAll(() => rmSync(dir, { recursive: true }))

anyStore((store) => {
  const openApp = knowledgeApps({ store, env: { SVC_AGENT_COMMAND: `node ${join(dir, 'agent.mjs')}` } })

  test('knowledge added between two runs is in the brief of the second', async () => {
    const app = await openApp()
    const runTask = async () => {
      const { id } = await app.createTask({ wedge: app.wedge, task_type: 'triage', input: { text: 'hello' } })
      const task = await app.finished(id)
      expect(task).toMatchObject({ status: 'succeeded', error: null })
      return { id, output: task.output }
    }
    const authored = { name: 'terms.md', content: 'Thirty days.' }
    const first = await runTask()
    expect(first.output).toMatchObject({ skills: [{ name: 'handling', content: 'Be kind.' }], knowledge: [authored] })
    await app.call('POST', `${app.path}/intake/who`, { answer: 'Ada' })
    const { body } = await app.call('POST', `/v1/tasks/${first.id}/feedback`, { rating: 2, note: 'Say hello back.' })
    expect(body).toMatchObject({ ok: true, knowledge_id: expect.stringMatching(/^kn_/) })
    const second = await runTask()
    expect(second.output).toMatchObject({
      knowledge: expect.arrayContaining([
        authored,
        { name: 'Who takes over?', content: 'Question: Who takes over?\nAnswer: Ada' },
        { name: 'feedback on triage', content: expect.stringContaining('Note: Say hello back.') },
      ]),
    })
  })
})
