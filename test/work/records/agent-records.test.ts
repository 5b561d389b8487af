import { expect, test } from 'vitest'
import { addProject, signUpOwner } from '../../identity/accounts/members.ts'
import { anyStore, sharedApp } from '../../app.ts'
import type { CallOptions } from '../../http.ts'
import { scriptedAgentFolder, runScript } from '../../execution/runs/scripted-agent.ts'

const WEDGES = {
  'orders/wedge.json': { wedge: 'orders', task_types: { work: {} } },
  'returns/wedge.json': { wedge: 'returns', task_types: { work: {} } },
}
const agents = scriptedAgentFolder()

/** A script that tries every way to read and delete the foreign record with these fields. */
const readScript = (other: object) => `
  const other = ${JSON.stringify(other)}
  const query = new URLSearchParams(other)
  const at = '/v1/internal/records/notes'
  const listed = [await ask('GET', at), await ask('GET', at + '?' + query)]
  listed.push(await ask('GET', at + '?' + new URLSearchParams({ where: '{"of":{"$exists":true}}' })))
  const got = [await ask('GET', at + '/only-foreign'), await ask('GET', at + '/only-foreign?' + query)]
  got.push(await ask('DELETE', at + '/only-foreign?' + query))
  const otherPaths = []
  for (const place of ['internal/records/returns/notes', 'internal/records/returns%2fnotes', 'internal/records/..%2freturns%2fnotes'])
    for (const path of [place, place + '/both', place + '?' + query, 'records/' + other.id])
      for (const method of ['GET', 'DELETE']) otherPaths.push(await ask(method, '/v1/' + path))`

/** A script that writes keys that exist in both scopes and keys that exist only in the foreign scope. */
const WRITE_SCRIPT = `
  const put = []
  for (const key of ['both', 'only-foreign', 'both'])
    put.push(await ask('POST', at + '/' + key + '?' + query, { ...other, value: 'mine' }))
  put.push(await ask('DELETE', at + '/both?' + query))
  say({ output: { listed, got, otherPaths, put } })`

anyStore((store) => {
  const app = sharedApp({ store, wedges: WEDGES, env: agents })

  async function put(wedge: string, key: string, options: CallOptions = {}) {
    const record = { wedge, collection: 'notes', key, value: { of: wedge } }
    const { status, body } = await app().call('POST', '/v1/records', record, options)
    expect(status).toBe(201)
    return body
  }
  const notesOf = async (wedge: string, options: CallOptions = {}) =>
    (await app().call('GET', `/v1/records?wedge=${wedge}&collection=notes`, undefined, options)).body.data

  /** Runs an agent of `orders` that tries to use a foreign record, and expects that it reads and changes none. */
  async function expectNoAccess(foreign: { id: string }, project: string): Promise<void> {
    const other = { id: foreign.id, wedge: 'returns', project_id: project, project, owner: 'returns' }
    const own = await put('orders', 'both')
    const { task } = await runScript(app(), readScript(other) + WRITE_SCRIPT, { wedge: 'orders', task_type: 'work' })
    expect(task).toMatchObject({ status: 'succeeded' })
    const { listed, got, otherPaths, put: written } = task.output
    for (const response of listed) expect(response).toEqual({ status: 200, body: { data: [own], next_cursor: null } })
    for (const response of got) expect(response).toEqual({ status: 404, body: { error: 'no such record' } })
    for (const { status, body } of otherPaths) if (status !== 404) expect(body).toEqual({ data: [], next_cursor: null })
    expect(written).toMatchObject([
      { status: 200, body: { wedge: 'orders', key: 'both', version: 2 } },
      { status: 201, body: { wedge: 'orders', key: 'only-foreign', version: 1 } },
      { status: 200, body: { wedge: 'orders', key: 'both', version: 3 } },
      { status: 204 },
    ])
    const left = await notesOf('orders')
    expect(left).toMatchObject([{ key: 'only-foreign', value: 'mine' }])
    await app().call('DELETE', `/v1/records/${left[0].id}`)
  }

  test('an agent neither reads nor changes records of another wedge in a collection of the same name', async () => {
    const foreign = [await put('returns', 'both'), await put('returns', 'only-foreign')]
    await expectNoAccess(foreign[1], foreign[1].project_id)
    expect(new Set(await notesOf('returns'))).toEqual(new Set(foreign))
  })

  test('an agent neither reads nor changes records of its wedge in another project', async () => {
    const { key, project } = await addProject(app(), await signUpOwner(app()))
    const foreign = [await put('orders', 'both', { key }), await put('orders', 'only-foreign', { key })]
    await expectNoAccess(foreign[1], project)
    expect(new Set(await notesOf('orders', { key }))).toEqual(new Set(foreign))
  })
})
