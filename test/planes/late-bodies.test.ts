import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { addMember, signUpOwner } from '../accounts/members.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'
import { openPortal, openChannelApp } from '../channels/channel-app.ts'

/** A request whose body is still to come: its head has been read, and whoever sent it was known by it. */
async function begun(app: TestApp, path: string, key: string, body: string): Promise<Begun> {
  const { hostname, port, host } = new URL(app.url)
  const socket: Socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece))
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

interface Begun {
  /** Sends the body and answers the status. */
  end(): Promise<number>
}

eachStore((store) => {
  test('a key that is revoked while the body of its request is on the way does nothing more', async () => {
    const app = await testApp({ store })
    const { id, key } = (await app.call('POST', '/v1/keys', { name: 'leaked' })).body
    const slow = await begun(app, '/v1/keys', key, '{"name":"to come back with"}')
    expect((await app.call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
    expect(await slow.end()).toBe(401)
    const names = (await app.call('GET', '/v1/keys')).body.data.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['founder key'])
  })

  test('a member who is removed, signed out or given a lower role meanwhile is judged by what they are at the end', async () => {
    const app = await testApp({ store })
    const owner = await signUpOwner(app)
    const [removed, lowered, left] = await Promise.all(
      ['a', 'b', 'c'].map((name) => addMember(app, owner, 'admin', `${name}@example.com`)),
    )
    const invite = (name: string, who?: { session: string }) =>
      begun(app, '/v1/members', who?.session ?? '', `{"email":"${name}@elsewhere.com","role":"admin"}`)
    const slow = await Promise.all([invite('x', removed), invite('y', lowered), invite('z', left)])
    const role = { role: 'viewer' }
    expect((await app.call('DELETE', `/v1/members/${removed?.id}`, undefined, { key: owner })).status).toBe(204)
    expect((await app.call('PUT', `/v1/members/${lowered?.id}`, role, { key: owner })).status).toBe(200)
    expect((await app.call('POST', '/v1/auth/logout', undefined, { key: left?.session ?? '' })).status).toBe(204)
    expect(await Promise.all(slow.map((one) => one.end()))).toEqual([401, 403, 401])
    const { data } = (await app.call('GET', '/v1/members', undefined, { key: owner })).body
    expect(data.filter(({ status }: { status: string }) => status === 'invited')).toEqual([])
  })

  test("a client's message whose body comes after the revocation is not received", async () => {
    const front = await openChannelApp(store)
    const { client_id, thread_id, key } = await openPortal(front, 'ada@example.com')
    const slow = await begun(front, `/v1/portal/threads/${thread_id}/messages`, key, '{"body":"still me"}')
    expect((await front.call('POST', `/v1/clients/${client_id}/portal-revoke`)).status).toBe(200)
    expect(await slow.end()).toBe(401)
    const { messages } = (await front.call('GET', `/v1/threads/${thread_id}`)).body
    expect(messages.map(({ body }: { body: string }) => body)).toEqual(['Where is my order?'])
  })
})
