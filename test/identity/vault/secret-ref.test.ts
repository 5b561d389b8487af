import { describe, expect, test } from 'vitest'
import { requireSecretRef, secretRefOf } from '../../../src/identity/vault/secret-ref.ts'

describe('secret_ref', () => {
  test.each(['env:MAIL_KEY', 'env:_x', 'vault:mail', 'vault:client/7.key:a'])('%s is a valid secret_ref', (ref) => {
    expect(() => requireSecretRef(ref, null, null)).not.toThrow()
  })

  test.each([
    '',
    'mail',
    'env:',
    'vault:',
    'env:A B',
    'env:1A',
    'ENV:A',
    'vault: x',
    'file:/etc/passwd',
    'env:A\n',
    'vault:a\nb',
  ])('the secret_ref %j is 400', (ref) => {
    expect(() => requireSecretRef(ref, null, null)).toThrow("field 'secret_ref' must be env:NAME or vault:KEY")
  })

  test.each([
    'SVC_SECRET_KEY',
    'svc_secret_key',
    'BROKER_API_KEY',
    'DATABASE_URL',
    'PGPASSWORD',
    'NODE_OPTIONS',
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'PATH',
    'HOME',
    'HTTPS_PROXY',
    'no_proxy',
  ])('env:%s is 400, because the variable belongs to the service or the system', (name) => {
    expect(() => requireSecretRef(`env:${name}`, null, null)).toThrow(expect.objectContaining({ status: 400 }))
    expect(() => requireSecretRef(`env:${name}`, [name], null)).toThrow(expect.objectContaining({ status: 400 }))
  })

  test('only the connection itself may refer to vault:<its id>', () => {
    expect(() => requireSecretRef('vault:conn_1', null, 'conn_1')).not.toThrow()
    for (const id of ['conn_2', null]) {
      expect(() => requireSecretRef('vault:conn_1', null, id)).toThrow(expect.objectContaining({ status: 400 }))
    }
  })

  test('with SVC_ENV_SECRETS set, only the listed variables are allowed', () => {
    expect(() => requireSecretRef('env:MAIL_KEY', ['MAIL_KEY'], null)).not.toThrow()
    expect(() => requireSecretRef('env:OTHER', ['MAIL_KEY'], null)).toThrow(expect.objectContaining({ status: 400 }))
    expect(() => requireSecretRef('env:OTHER', [], null)).toThrow(expect.objectContaining({ status: 400 }))
  })

  test('without a secret_ref the vault key is the connection id', () => {
    expect(secretRefOf({ id: 'conn_1', secret_ref: null })).toEqual({ in: 'vault', key: 'conn_1' })
  })
})
