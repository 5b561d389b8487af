import { expect, test } from 'vitest'
import { listUnusable } from '../../console/src/ui/usable-connections.ts'

const connection = (kind: string, status: string, has_secret: boolean) => ({ name: 'crm', kind, status, has_secret })

test('a connection that needs a credential and has none is as good as missing', () => {
  const listed = (...connections: ReturnType<typeof connection>[]) => listUnusable(['crm'], connections)
  expect(listed()).toEqual([{ name: 'crm', connection: null }])
  for (const one of [
    connection('custom', 'needs_secret', false),
    connection('mcp', 'needs_authorisation', false),
    connection('webhook', 'connected', false),
  ])
    expect(listed(one)).toEqual([{ name: 'crm', connection: one }])
  expect(listed(connection('custom', 'connected', true))).toEqual([])
  expect(listed(connection('custom', 'needs_secret', false), connection('custom', 'connected', true))).toEqual([])
})

test('a connection without a secret is usable if it needs none', () => {
  expect(listUnusable(['crm'], [connection('mcp', 'connected', false)])).toEqual([])
})
