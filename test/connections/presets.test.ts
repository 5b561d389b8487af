import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parseAuthConfig } from '../../src/connections/auth/auth-config.ts'
import { parseOperations } from '../../src/connections/operations/connection-operations.ts'
import { inputSchemaOf } from '../../src/connections/operations/operation-schema.ts'
import { readPresets } from '../../src/connections/presets/read-presets.ts'
import { schemaErrors } from '../../src/platform/contract/output-schema.ts'
import { sharedApp } from '../app.ts'
import { respondJson } from '../fake-upstream.ts'
import { anyStore } from '../stores.ts'
import { exampleArguments, examplePresetConfig, loadPreset, openPresetConnection } from './preset-connection.ts'
import { openUpstreamServer } from './test-context.ts'

const FOLDER = fileURLToPath(new URL('../../presets', import.meta.url))
const presets = readdirSync(FOLDER).map((file) => loadPreset(file.replace('.json', '')))
const apis = presets.filter(({ kind }) => kind === 'custom')
const NAMES = presets.map(({ preset }) => preset)

test('the presets of the specification exist', () => {
  const wanted = [
    'stripe',
    'shopify',
    'hubspot',
    'github',
    'slack',
    'twilio',
    'notion',
    'linear',
    'zendesk',
    'airtable',
    'google',
    'microsoft',
  ]
  expect(NAMES).toEqual(expect.arrayContaining([...wanted, 'smtp', 'postmark', 'mailgun', 'sendgrid', 'resend']))
  expect(readdirSync(FOLDER)).toEqual(NAMES.map((name) => `${name}.json`))
})

test.each(presets)('preset $preset uses every parameter and leaves no placeholder', (preset) => {
  for (const { name, pattern, example } of preset.params) {
    expect(JSON.stringify(preset.config)).toContain(`{{${name}}}`)
    if (pattern) expect(String(example)).toMatch(new RegExp(pattern))
  }
  expect(JSON.stringify(examplePresetConfig(preset))).not.toContain('{{')
})

test.each(apis)('preset $preset has a valid credential and valid operations, called over https', (preset) => {
  const config = examplePresetConfig(preset)
  expect(parseAuthConfig({ kind: preset.kind, config })).toMatchObject({ type: expect.any(String) })
  const { baseUrl, operations } = parseOperations(config)
  expect(baseUrl).toMatch(/^https:\/\//)
  expect(operations.length).toBeGreaterThanOrEqual(5)
  for (const operation of operations) {
    expect(operation.description).toMatch(/^[A-Z].*\.$/)
    expect(Boolean(operation.read)).toBe(operation.method === 'GET')
  }
})

test.each(apis)('preset $preset: every operation sends one request with the credential', async (preset) => {
  const server = await openUpstreamServer((_, response) => respondJson(response, 200, {}))
  const connection = await openPresetConnection(preset, server)
  for (const operation of connection.operations) {
    const schema = inputSchemaOf(operation)
    const args = exampleArguments(schema)
    expect(schemaErrors(schema, args)).toEqual([])
    expect(await connection.call(operation.name, args)).toMatchObject({ ok: true, status: 200 })
    const request = server.received.at(-1)
    expect(request?.method).toBe(operation.method)
    expect(`${request?.url} ${JSON.stringify(request?.headers)}`).toMatch(/secret-of-the-preset|[Bb]asic /)
    expect(request?.url).not.toMatch(/[{}]|undefined|null/)
  }
  expect(server.received).toHaveLength(connection.operations.length)
})

test.each([
  [
    'slack',
    'post_message',
    { channel: 'C1', text: 'Hi' },
    { ok: false, error: 'channel_not_found' },
    'channel_not_found',
  ],
  ['linear', 'list_teams', {}, { errors: [{ message: 'no access' }] }, 'no access'],
])('an error of %s in a response with status 200 is a failure', async (name, operation, args, body, error) => {
  const server = await openUpstreamServer((_, response) => respondJson(response, 200, body))
  const connection = await openPresetConnection(loadPreset(name), server)
  expect(await connection.call(operation, args)).toMatchObject({
    ok: false,
    outcome: 'failed',
    status: 200,
    error: expect.stringContaining(error),
  })
})

test('the documentation lists every preset with all of its operations', () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/presets.md', import.meta.url)), 'utf8')
  for (const { preset, config } of presets) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${preset}\` |`)) ?? ''
    const names =
      config.operations === undefined
        ? ['send']
        : parseOperations(examplePresetConfig(loadPreset(preset))).operations.map(({ name }) => name)
    for (const name of names) expect(row).toContain(`\`${name}\``)
  }
})

test('every preset can be read by the service', async () => {
  expect((await readPresets()).map(({ preset }) => preset)).toEqual(NAMES)
})

anyStore((store) => {
  const shared = sharedApp({ store })

  test('GET /v1/presets lists them with operations, credential and parameters', async () => {
    const { status, body } = await shared().call('GET', '/v1/presets')
    expect(status).toBe(200)
    expect(body.data.map(({ preset }: { preset: string }) => preset)).toEqual(NAMES)
    const stripe = body.data.find(({ preset }: { preset: string }) => preset === 'stripe')
    expect(stripe).toMatchObject({
      title: 'Stripe',
      kind: 'custom',
      auth: { type: 'bearer' },
      docs: 'https://docs.stripe.com/api',
      params: [expect.objectContaining({ name: 'currency', default: 'USD' })],
      secret: { label: expect.any(String), where: expect.any(String) },
    })
    expect(stripe.operations).toContainEqual(
      expect.objectContaining({ name: 'create_refund', class: 'ask', input_schema: expect.any(Object) }),
    )
    expect(stripe.operations).toContainEqual(expect.objectContaining({ name: 'list_customers', class: 'read' }))
  })

  test('POST /v1/connections with a preset copies its data into the config', async () => {
    const params = { subdomain: 'acme', email: 'bot@acme.example' }
    const { status, body } = await shared().call('POST', '/v1/connections', { preset: 'zendesk', name: 'desk', params })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      kind: 'custom',
      name: 'desk',
      status: 'needs_secret',
      warnings: [],
      config: {
        preset: 'zendesk',
        base_url: 'https://acme.zendesk.com/api/v2',
        auth: { type: 'basic', username: 'bot@acme.example/token' },
      },
    })
    expect(body.config.operations.length).toBeGreaterThan(5)
  })

  test('a preset that takes the currency from a parameter warns about it', async () => {
    const { body } = await shared().call('POST', '/v1/connections', { preset: 'stripe', name: 'stripe' })
    expect(body.warnings).toEqual(['amounts are read as USD: is this the currency of the account?'])
  })

  test('a mail preset makes an email connection, and a number stays a number', async () => {
    const params = { from: 'help@acme.example', host: 'smtp.acme.example', port: 2525, username: 'help' }
    const { body } = await shared().call('POST', '/v1/connections', { preset: 'smtp', name: 'mail', params })
    expect(body).toMatchObject({ kind: 'email', config: { ...params, provider: 'smtp', preset: 'smtp' }, warnings: [] })
  })

  test('config of the request replaces single keys of the preset', async () => {
    const input = { preset: 'github', name: 'enterprise', config: { base_url: 'https://github.acme.example/api/v3' } }
    const { body } = await shared().call('POST', '/v1/connections', input)
    expect(body.config).toMatchObject({ preset: 'github', base_url: 'https://github.acme.example/api/v3' })
    expect(body.config.operations.length).toBeGreaterThan(5)
  })

  test('the parameters stay in the config, also if the request replaces the base_url that has them', async () => {
    const params = { account_sid: `AC${'0'.repeat(32)}` }
    const config = { base_url: 'https://twilio.acme.example' }
    const { body } = await shared().call('POST', '/v1/connections', { preset: 'twilio', name: 'sms', params, config })
    expect(body.config).toMatchObject({ preset: 'twilio', ...params, ...config })
  })

  test.each<[object, RegExp]>([
    [{ preset: 'nothing' }, /^field 'preset' names no preset/],
    [{ preset: '../package' }, /^field 'preset' names no preset/],
    [{ preset: 'shopify' }, /^field 'params\.shop' is required/],
    [{ preset: 'shopify', params: { shop: 'evil.example/x' } }, /^field 'params\.shop' is not valid/],
    [{ preset: 'shopify', params: { shop: 'a', extra: 'b' } }, /^field 'params\.extra' is not a parameter/],
    [{ preset: 'smtp', params: { from: 'a@b.c', host: 'h', username: 'u', port: '25' } }, /must be a number/],
    [{ preset: 'stripe', kind: 'email' }, /^field 'kind' must be custom/],
    [{}, /^field 'kind' is required: one of email/],
  ])('%j is a 400', async (input, message) => {
    const { status, body } = await shared().call('POST', '/v1/connections', { name: 'x', ...input })
    expect(status).toBe(400)
    expect(body.error).toMatch(message)
  })
})
