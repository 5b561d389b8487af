import { expect, test } from 'vitest'
import { anyStore, sharedApp } from '../../../app.ts'
import { runScript, scriptedAgentFolder } from '../scripted-agent.ts'

const env = { SVC_MAX_RUN_MB: '12', ...scriptedAgentFolder() }

anyStore((store) => {
  const app = sharedApp({ store, env })

  /** The responses to calls of POST /v1/internal/files. */
  const post = async (...bodies: string[]) => {
    const calls = bodies.map((body) => `await ask('POST', '/v1/internal/files', ${body})`).join(', ')
    return (await runScript(app(), `say({ output: [${calls}] })`)).task
  }

  test('an agent stores a file, which the project then has', async () => {
    const task = await post(
      `{ name: '../a/Bericht.csv', content_type: 'text/csv', content: Buffer.from('a,b').toString('base64') }`,
      `{ name: 'x', content: '' }`,
    )
    expect(task.output).toMatchObject([
      { status: 201, body: { name: 'Bericht.csv', content_type: 'text/csv', size: 3 } },
      { status: 201, body: { name: 'x', size: 0 } },
    ])
    const { id, sha256 } = task.output[0].body
    expect((await app().call('GET', `/v1/files/${id}/meta`)).body).toMatchObject({ id, sha256, name: 'Bericht.csv' })
    const entries = (await app().call('GET', '/v1/audit?action=file.created')).body.data
    expect(entries.map((entry: { actor: object }) => entry.actor)).toContainEqual({ kind: 'task', id: task.id })
  })

  test('a file of 10 MiB fits, a larger one and more than the run may store do not', async () => {
    const base64 = (bytes: number) => `{ name: 'a.bin', content: Buffer.alloc(${bytes}, 1).toString('base64') }`
    expect((await post(base64(10 * 1024 * 1024), base64(3 * 1024 * 1024))).output).toMatchObject([
      { status: 201, body: { size: 10 * 1024 * 1024 } },
      { status: 429, body: { error: expect.stringContaining('SVC_MAX_RUN_MB') } },
    ])
    expect((await post(base64(10 * 1024 * 1024 + 1))).output).toEqual([
      { status: 413, body: { error: 'the file is larger than 10 MiB' } },
    ])
  })

  test.each([
    [`{ name: 'a' }`, "field 'content' is required"],
    [`{ name: 'a', content: 'a b' }`, "field 'content' must be base64"],
    [`{ name: '', content: '' }`, "field 'name' must not be empty"],
  ])('%s is refused', async (body, error) => {
    expect((await post(body)).output).toEqual([{ status: 400, body: { error } }])
  })
})
