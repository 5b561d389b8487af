import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { addMember, signUpOwner } from '../../identity/accounts/members.ts'
import { anyStore, type TestApp, testApp } from '../../app.ts'
import { openPortal, openChannelApp } from '../../customers/channels/channel-app.ts'

interface StartedRequest {
  /** Sends the body and returns the status. */
  end(): Promise<number>
}

/** Sends the head of a request and waits until the service has authenticated it. */
async function startRequest(app: TestApp, path: string, key: string, body: string): Promise<StartedRequest> {
  const { hostname, port, host } = new URL(app.url)
  const socket: Socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}`,
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'expect: 100-continue',
    'connection: close',
  ]
  socket.write([...head, '', ''].join('\r\n'))
  while (!text.includes('100 Continue')) await once(socket, 'data')
  return {
    async end() {
      socket.write(body)
      await once(socket, 'close')
      return Number(/^HTTP\/1\.1 (?!100)(\d+)/m.exec(text)?.[1])
    },
  }
}

anyStore((store) => {
  test('a key that is revoked while its request body arrives is 401, and nothing is written', async () => {
    const app = await testApp({ store })
    const { id, key } = (await app.call('POST', '/v1/keys', { name: 'leaked' })).body
    const slow = await startRequest(app, '/v1/keys', key, '{"name":"second key"}')
    expect((await app.call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
    expect(await slow.end()).toBe(401)
    const names = (await app.call('GET', '/v1/keys')).body.data.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['founder key'])
  })

  test('a member who is removed, signed out or demoted while the request body arrives is refused', async () => {
    const app = await testApp({ store })
    const owner = await signUpOwner(app)
    const [removed, lowered, left] = await Promise.all(
      ['a', 'b', 'c'].map((name) => addMember(app, owner, 'admin', `${name}@example.com`)),
    )
    const invite = (name: string, who?: { session: string }) =>
      startRequest(app, '/v1/members', who?.session ?? '', `{"email":"${name}@elsewhere.com","role":"admin"}`)
    const slow = await Promise.all([invite('x', removed), invite('y', lowered), invite('z', left)])
    const role = { role: 'viewer' }
    expect((await app.call('DELETE', `/v1/members/${removed?.id}`, undefined, { key: owner })).status).toBe(204)
    expect((await app.call('PUT', `/v1/members/${lowered?.id}`, role, { key: owner })).status).toBe(200)
    expect((await app.call('POST', '/v1/auth/logout', undefined, { key: left?.session ?? '' })).status).toBe(204)
    expect(await Promise.all(slow.map((request) => request.end()))).toEqual([401, 403, 401])
    const { data } = (await app.call('GET', '/v1/members', undefined, { key: owner })).body
    expect(data.filter(({ status }: { status: string }) => status === 'invited')).toEqual([])
  })

  test('a client message whose body arrives after portal access was revoked is refused', async () => {
    const app = await openChannelApp(store)
    const { client_id, thread_id, key } = await openPortal(app, 'ada@example.com')
    const slow = await startRequest(app, `/v1/portal/threads/${thread_id}/messages`, key, '{"body":"still me"}')
    expect((await app.call('POST', `/v1/clients/${client_id}/portal-revoke`)).status).toBe(200)
    expect(await slow.end()).toBe(401)
    const { messages } = (await app.call('GET', `/v1/threads/${thread_id}`)).body
    expect(messages.map(({ body }: { body: string }) => body)).toEqual(['Where is my order?'])
  })
})
