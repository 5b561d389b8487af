import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../../src/platform/ctx/scope.ts'
import { removeUnusedFiles } from '../../../src/automation/retention/remove-files.ts'
import { storeFile } from '../../../src/work/files/store-file.ts'
import { anyStore, type TestApp } from '../../app.ts'
import { openChannelApp, otherOrganisationSession, projectIdOf } from '../channels/channel-app.ts'

const BRAND = { name: 'Teapot Shop', color: '#0B7A5D', welcome: 'Ask us anything.', language: 'de' }

/** What a visitor reads without a credential. */
const publicBrand = async (app: TestApp, project?: string) => {
  const query = project === undefined ? '' : `?project=${encodeURIComponent(project)}`
  return (await app.call('GET', `/v1/portal/brand${query}`, undefined, { key: null })).body
}

anyStore((store) => {
  test('a brand is set field by field and can be read without a credential', async () => {
    const app = await openChannelApp(store)
    const empty = (await app.call('GET', '/v1/brand')).body
    expect(empty).toMatchObject({ name: null, color: null, language: 'en', notify: false })
    expect(empty.portal_url).toBe('https://desk.example/portal?project=default')
    const set = await app.call('PUT', '/v1/brand', BRAND)
    expect(set.body).toMatchObject({ ...BRAND, color: '#0b7a5d' })
    await app.call('PUT', '/v1/brand', { name: '  ', portal_channel_id: app.channel })
    const brand = (await app.call('GET', '/v1/brand')).body
    expect(brand).toMatchObject({ name: null, welcome: 'Ask us anything.', portal_channel_id: app.channel })
    expect(await publicBrand(app, 'default')).toEqual({
      address: 'default',
      name: null,
      color: '#0b7a5d',
      logo_url: null,
      favicon_url: null,
      welcome: 'Ask us anything.',
      language: 'de',
      can_mail_links: false,
    })
    expect(await publicBrand(app)).toEqual(await publicBrand(app, 'default'))
    expect(await publicBrand(app, await projectIdOf(app))).toEqual(await publicBrand(app, 'default'))
  })

  test('a brand refuses wrong values and what belongs to another project', async () => {
    const app = await openChannelApp(store)
    const other = await otherOrganisationSession(app)
    const put = (body: object, key?: string) => app.call('PUT', '/v1/brand', body, key ? { key } : {})
    for (const [body, error] of [
      [{ color: 'red' }, "field 'color' must be a colour such as #1f4fd1"],
      [{ language: 'xx' }, "field 'language'"],
      [{ name: 'x'.repeat(81) }, "field 'name'"],
      [{ logo_file_id: 'file_absent' }, "field 'logo_file_id' is not a file of this project"],
      [{ portal_channel_id: 'chan_absent' }, "field 'portal_channel_id' is not a channel of this project"],
      [{ mail_connection_id: 'conn_absent' }, "field 'mail_connection_id' is not an email connection of this project"],
      [{ notify: true }, "field 'notify' needs a 'mail_connection_id'"],
    ] as const) {
      const refused = await put(body)
      expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining(error)])
    }
    const webhook = { kind: 'webhook', name: 'post', config: { url: 'https://hooks.example/' } }
    const post = (await app.call('POST', '/v1/connections', webhook)).body.id
    expect((await put({ mail_connection_id: post })).status).toBe(400)
    expect((await put({ mail_connection_id: app.connection, notify: true })).status).toBe(200)
    expect((await put({ mail_connection_id: null })).body.error).toBe("field 'notify' needs a 'mail_connection_id'")
    expect((await put({ mail_connection_id: app.connection }, other)).status).toBe(400)
    expect((await put({ portal_channel_id: app.channel }, other)).status).toBe(400)
  })

  test('the older of two projects with one slug keeps its public address', async () => {
    const app = await openChannelApp(store)
    // Ids of one millisecond have no order.
    await app.clock.advance(1)
    const other = await otherOrganisationSession(app)
    await app.call('PUT', '/v1/brand', { name: 'First' })
    const second = (await app.call('PUT', '/v1/brand', { name: 'Second' }, { key: other })).body
    const address = new URL(second.portal_url).searchParams.get('project') ?? ''
    expect(address).toMatch(/^default\.[0-9a-z]{26}$/)
    expect(await publicBrand(app, address)).toMatchObject({ name: 'Second', address })
    expect(await publicBrand(app, 'default')).toMatchObject({ name: 'First', address: 'default' })
    const unknown = { address: null, name: null, color: null, language: 'en', can_mail_links: false }
    expect(await publicBrand(app, 'absent')).toMatchObject(unknown)
    expect(await publicBrand(app)).toMatchObject(unknown)
  })

  test('the logo is public, must be an image of the team, and stays as long as the brand has it', async () => {
    const app = await openChannelApp(store)
    const projectId = await projectIdOf(app)
    const upload = (name: string, contentType: string, content: string) =>
      storeFile(
        app.ctx,
        { projectId, clientId: null, actor: SYSTEM_ACTOR },
        { name, contentType },
        Readable.from([Buffer.from(content)]),
      )
    const text = await upload('logo.txt', 'text/plain', 'a logo')
    const refused = await app.call('PUT', '/v1/brand', { logo_file_id: text.id })
    expect([refused.status, refused.body.error]).toEqual([400, "field 'logo_file_id' must be an image"])
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    const logo = await upload('logo.svg', 'image/svg+xml', svg)
    const { logo_url } = (await app.call('PUT', '/v1/brand', { logo_file_id: logo.id })).body
    await inTx(app.ctx, (tx) => tx.db.updateTable('files').set({ created_at: '2020-01-01T00:00:00.000Z' }).execute())
    await removeUnusedFiles(app.ctx, 1)
    const shown = await fetch(app.url + logo_url)
    expect([shown.status, await shown.text()]).toEqual([200, svg])
    expect(shown.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/)
    await app.call('PUT', '/v1/brand', { logo_file_id: null })
    expect((await fetch(app.url + logo_url)).status).toBe(404)
    await removeUnusedFiles(app.ctx, 1)
    expect(await app.ctx.db.selectFrom('files').selectAll().where('state', '=', 'stored').execute()).toEqual([])
  })
})
