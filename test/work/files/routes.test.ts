import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { insertMessageFiles } from '../../../src/work/files/rows.ts'
import { anyStore, sharedApp, type TestApp, testApp } from '../../app.ts'
import { openChannelApp, openPortal } from '../../customers/channels/channel-app.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==',
  'base64',
)

interface SentFile {
  path?: string
  key?: string
  type?: string
}

async function upload(app: TestApp, name: string, body: Buffer | string | FormData, sent: SentFile = {}) {
  const { path = '/v1/files', key = app.key, type } = sent
  const response = await fetch(`${app.url}${path}${name && `?name=${encodeURIComponent(name)}`}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...(type !== undefined && { 'content-type': type }) },
    body: typeof body === 'string' || body instanceof FormData ? body : new Uint8Array(body),
  })
  // oxlint-disable-next-line typescript/no-explicit-any
  const answer = (await response.json()) as any
  return { status: response.status, body: answer, headers: response.headers }
}

const download = (app: TestApp, path: string, key = app.key) =>
  fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${key}` } })

function form(parts: [field: string, name: string, content: Buffer | string, type?: string][]): FormData {
  const data = new FormData()
  for (const [field, name, content, type] of parts)
    data.append(
      field,
      new Blob([typeof content === 'string' ? content : new Uint8Array(content)], {
        ...(type !== undefined && { type }),
      }),
      name,
    )
  return data
}

const MANY_FIELDS = Array.from({ length: 101 }, (_, n): [string, string, string] => [`field${n}`, 'a', 'x'])

anyStore((store) => {
  const app = sharedApp({ store })

  test('a raw upload is stored, listed, downloaded and deleted', async () => {
    const { status, body: file, headers } = await upload(app(), 'Bericht März.png', PNG, { type: 'image/png' })
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/v1/files/${file.id}/meta`)
    expect(file).toEqual({
      id: expect.stringMatching(/^file_[0-9a-z]{26}$/),
      name: 'Bericht März.png',
      content_type: 'image/png',
      size: PNG.length,
      sha256: createHash('sha256').update(PNG).digest('hex'),
      created_at: expect.any(String),
    })
    expect((await app().call('GET', `/v1/files/${file.id}/meta`)).body).toEqual(file)
    const bytes = await download(app(), `/v1/files/${file.id}`)
    expect(Object.fromEntries(bytes.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'content-disposition': "inline; filename*=UTF-8''Bericht%20M%C3%A4rz.png",
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    })
    expect(Buffer.from(await bytes.arrayBuffer())).toEqual(PNG)
    expect((await app().call('DELETE', `/v1/files/${file.id}`)).status).toBe(204)
    for (const path of [`/v1/files/${file.id}`, `/v1/files/${file.id}/meta`])
      expect((await app().call('GET', path)).status).toBe(404)
    expect((await app().call('DELETE', `/v1/files/${file.id}`)).status).toBe(404)
  })

  test('a form upload takes the field `file`, and other fields are ignored', async () => {
    const data = form([
      ['preview', 'p.png', PNG],
      ['file', '../../etc/notes.md', '# Hello', 'text/markdown'],
    ])
    data.append('comment', 'x')
    const { status, body } = await upload(app(), '', data)
    expect([status, body.name, body.content_type, body.size]).toEqual([201, 'notes.md', 'text/markdown', 7])
    const bytes = await download(app(), `/v1/files/${body.id}`)
    expect([bytes.headers.get('content-type'), await bytes.text()]).toEqual(['text/markdown; charset=utf-8', '# Hello'])
  })

  test('the list has pages, newest first, and can be filtered by client', async () => {
    const ids = []
    for (const name of ['a', 'b', 'c']) {
      await app().clock.advance(1)
      ids.push((await upload(app(), name, name)).body.id)
    }
    const first = (await app().call('GET', '/v1/files?limit=2')).body
    expect(first.data.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]])
    const second = (await app().call('GET', `/v1/files?limit=1&cursor=${first.next_cursor}`)).body
    expect(second.data.map(({ name }: { name: string }) => name)).toEqual(['a'])
    expect((await app().call('GET', '/v1/files?client_id=cli_none')).body.data).toEqual([])
  })

  test('an upload that is not valid is refused and leaves nothing', async () => {
    const before = (await app().call('GET', '/v1/files?limit=200')).body.data
    const refused = [
      [await upload(app(), '', 'x'), 400, "query 'name' is required"],
      [await upload(app(), '', form([['other', 'a', 'x']])), 400, "field 'file' is required"],
      [
        await upload(
          app(),
          '',
          form([
            ['file', 'a', 'x'],
            ['file', 'b', 'y'],
          ]),
        ),
        400,
        "field 'file' must not be repeated: upload one file per request",
      ],
      [
        await upload(app(), '', '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ncut', {
          type: 'multipart/form-data; boundary=x',
        }),
        400,
        'the body is not a valid multipart form',
      ],
      [await upload(app(), '', form(MANY_FIELDS)), 400, 'the form must not have more than 100 parts'],
      [
        await upload(app(), '', form([['file', 'a', 'x'], ...MANY_FIELDS])),
        400,
        'the form must not have more than 100 parts',
      ],
      [await upload(app(), '', 'x', { type: 'multipart/form-data' }), 400, 'the body is not a valid multipart form'],
      [await upload(app(), 'big', Buffer.alloc(10 * 1024 * 1024 + 1)), 413, 'the body is larger than 10 MiB'],
      [
        await upload(app(), '', form([['file', 'big', Buffer.alloc(10 * 1024 * 1024 + 1)]])),
        413,
        'the file is larger than 10 MiB',
      ],
    ] as const
    for (const [{ status, body }, wanted, error] of refused) expect([status, body]).toEqual([wanted, { error }])
    expect((await app().call('GET', '/v1/files?limit=200')).body.data).toEqual(before)
    expect(await app().ctx.db.selectFrom('files').selectAll().where('state', '<>', 'stored').execute()).toEqual([])
  })

  test('HTML, SVG and scripts are downloaded under every declared type and never shown', async () => {
    const hostile: [string, string, string][] = [
      ['a.png', 'image/png', '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'],
      ['a.txt', 'text/plain', ' <!-- x --><!DOCTYPE html><script>1</script>'],
      ['a.svg', 'application/octet-stream', '<?xml version="1.0"?><svg/>'],
      ['a.js', 'text/javascript', 'alert(1)'],
      ['a.xhtml', 'application/xhtml+xml', 'x'],
      ['a.pdf', 'application/pdf', 'no pdf'],
    ]
    for (const [name, type, content] of hostile) {
      const { body } = await upload(app(), name, content, { type })
      const { headers } = await download(app(), `/v1/files/${body.id}`)
      expect([name, headers.get('content-disposition')]).toEqual([name, `attachment; filename*=UTF-8''${name}`])
      expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    }
  })

  test('a client reads its own uploads and the files of messages that it may see, and nothing else', async () => {
    const portal = await openChannelApp(store)
    const ada = await openPortal(portal, 'ada@example.com')
    const eve = await openPortal(portal, 'eve@example.com')
    const { status, body: own } = await upload(portal, 'own.txt', 'mine', { path: '/v1/portal/files', key: ada.key })
    expect(status).toBe(201)
    const reads = async (id: string, key: string) => (await download(portal, `/v1/portal/files/${id}`, key)).status
    expect([await reads(own.id, ada.key), await reads(own.id, eve.key)]).toEqual([200, 404])
    const listed = await portal.call('GET', `/v1/files?client_id=${ada.client_id}`)
    expect(listed.body.data).toEqual([own])
    const { body: team } = await upload(portal, 'team.txt', 'ours')
    expect(await reads(team.id, ada.key)).toBe(404)
    const answer = await portal.call('POST', `/v1/threads/${ada.thread_id}/messages`, { body: 'See the file.' })
    await inTx(portal.ctx, (tx) => insertMessageFiles(tx.db, answer.body.id, [team.id]))
    expect([await reads(team.id, ada.key), await reads(team.id, eve.key)]).toEqual([200, 404])
  })

  test('a key that is revoked while the file arrives is 401, and nothing is stored', async () => {
    const { id, key } = (await app().call('POST', '/v1/keys', { name: 'leaked' })).body
    const slow = await startUpload(app(), key, 100)
    slow.socket.write('x'.repeat(50))
    expect((await app().call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
    slow.socket.write('x'.repeat(50))
    await once(slow.socket, 'close')
    expect(slow.status()).toBe(401)
    expect(await app().ctx.db.selectFrom('files').select('id').where('name', '=', 'slow').execute()).toEqual([])
  })
})

describe('limits', () => {
  test('a project that reached its limit takes no more files, and deleting one makes room', async () => {
    const app = await testApp({ store: 'sqlite', env: { SVC_MAX_PROJECT_MB: '1', SVC_FILE_MAX_MB: '1' } })
    const { body: first } = await upload(app, 'a', Buffer.alloc(700_000))
    const { status, body } = await upload(app, 'b', Buffer.alloc(700_000))
    expect([status, body.error]).toEqual([429, expect.stringContaining('SVC_MAX_PROJECT_MB')])
    expect((await upload(app, 'c', Buffer.alloc(1024 * 1024 + 1))).body.error).toBe('the body is larger than 1 MiB')
    expect((await app.call('DELETE', `/v1/files/${first.id}`)).status).toBe(204)
    expect((await upload(app, 'b', Buffer.alloc(700_000))).status).toBe(201)
  })

  test('an upload may take long, but a sender that pauses for a minute is disconnected', async () => {
    const app = await testApp({ store: 'sqlite' })
    const { socket, status } = await startUpload(app, app.key, 100)
    for (let i = 0; i < 3; i++) {
      socket.write('x')
      await app.clock.advance(50_000)
    }
    const closed = once(socket, 'close')
    await app.clock.advance(70_000)
    await closed
    expect(status()).toBe(408)
    expect(await app.ctx.db.selectFrom('files').select('id').execute()).toEqual([])
  })
})

/** Sends the head of an upload named `slow` and waits until the service asks for the body. */
async function startUpload(app: TestApp, key: string, length: number) {
  const { hostname, port, host } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const head = [
    'POST /v1/files?name=slow HTTP/1.1',
    `host: ${host}`,
    `authorization: Bearer ${key}`,
    `content-length: ${length}`,
    'expect: 100-continue',
    'connection: close',
  ]
  socket.write([...head, '', ''].join('\r\n'))
  while (!text.includes('100 Continue')) await once(socket, 'data')
  return { socket, status: () => Number(/^HTTP\/1\.1 (?!100)(\d+)/m.exec(text)?.[1]) }
}
