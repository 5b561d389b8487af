import { expect, test } from 'vitest'
import { webhookSignatureHeaders } from '../../src/connections/executors/webhook.ts'
import { FOUNDER_KEY, testApp } from '../app.ts'
import { blocks, page } from './pages.ts'

test('the client of docs/events.md reads a log to its end and throws the error of a missing task', async () => {
  const { follow } = await importBlock('docs/events.md')
  const app = await testApp({ store: 'sqlite' })
  const task = await app.createTask()
  const types: string[] = []
  await follow(`${app.url}/v1/tasks/${task.id}/events`, FOUNDER_KEY, ({ type }: { type: string }) => types.push(type))
  expect(types).toEqual((await app.events(task.id)).map(({ event }) => event))
  await expect(follow(`${app.url}/v1/tasks/task_none/events`, FOUNDER_KEY, () => {})).rejects.toThrow('no such task')
})

test('the check of docs/webhooks.md accepts signatures of the service, also during a rotation, and no others', async () => {
  const { isGenuine } = await importBlock('docs/webhooks.md')
  const [secret, other] = [7, 8].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`)
  const headers = webhookSignatureHeaders(secret ?? '', 'dlv_1', 1_000, '{"a":1}')
  const both = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` }
  expect(isGenuine(secret, headers, '{"a":1}', 1_010)).toBe(true)
  expect(isGenuine(secret, both, '{"a":1}', 1_010)).toBe(true)
  expect(isGenuine(secret, headers, '{"a":2}', 1_010)).toBe(false)
  expect(isGenuine(other, headers, '{"a":1}', 1_010)).toBe(false)
  expect(isGenuine(secret, headers, '{"a":1}', 2_000)).toBe(false)
  expect(isGenuine(secret, {}, '{"a":1}', 1_010)).toBe(false)
})

/** Imports the only JavaScript block of a page as a module. */
// oxlint-disable-next-line typescript/no-explicit-any
async function importBlock(path: string): Promise<Record<string, any>> {
  const [code, ...more] = blocks(page(path), 'js')
  expect(more).toEqual([])
  return import(`data:text/javascript,${encodeURIComponent(code ?? '')}`)
}
