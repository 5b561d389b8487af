import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeFiles } from '../../app.ts'
import { openConversationApp } from './conversation-app.ts'

/** Ends with a reply, and says which action would send it. */
const AGENT = `
  let text = ''
  for await (const piece of process.stdin) text += piece
  const { task, reply } = JSON.parse(text.split('\\n')[0])
  console.log(JSON.stringify({ output: { reply: 'Custom: ' + task.input.body, by: reply.capability } }))`

function customAgent(): Record<string, string> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-agent-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  writeFiles(dir, { 'agent.mjs': AGENT })
  return { SVC_AGENT_DIR: dir, SVC_AGENT_COMMAND: 'node agent.mjs' }
}

test('the reply of a custom agent waits at the gate, and the output gets the text that was sent', async () => {
  const app = await openConversationApp('sqlite', { env: customAgent() })
  const { task_id, thread_id } = (await app.deliver(7, 'Hello')).body
  const approval = await app.pendingApproval(thread_id)
  expect((await app.call('GET', `/v1/tasks/${task_id}`)).body.status).toBe('awaiting_approval')
  await app.call('POST', `/v1/approvals/${approval}/approve`, { edited: { text: 'Edited' } })
  const output = { reply: 'Edited', by: 'bot:reply' }
  expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded', output })
  expect(app.sentTexts()).toEqual(['Edited'])
  const { messages } = await app.thread(thread_id)
  expect(messages.map(({ body }: { body: string }) => body)).toEqual(['Hello', 'Edited'])
  const events = (await app.events(task_id)).map(({ id }) => Number(id))
  expect(events).toEqual(events.map((_, index) => index + 1))
})

test('a custom agent has ended when its reply is sent back or rejected, so the client is unanswered', async () => {
  const app = await openConversationApp('sqlite', { env: customAgent() })
  const first = (await app.deliver(7, 'One')).body
  const revised = await app.pendingApproval(first.thread_id)
  await app.call('POST', `/v1/approvals/${revised}/revise`, { note: 'Shorter.' })
  expect(await app.finished(first.task_id)).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
  const second = (await app.deliver(8, 'Two')).body
  await app.call('POST', `/v1/approvals/${await app.pendingApproval(second.thread_id)}/reject`)
  expect(await app.finished(second.task_id)).toMatchObject({ status: 'rejected' })
  for (const { thread_id } of [first, second]) expect((await app.thread(thread_id)).unanswered).not.toBeNull()
  expect(app.sentTexts()).toEqual([])
})
