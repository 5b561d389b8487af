import { expect, test } from 'vitest'
import { chooseRepair } from '../../console/src/pages/connections/choose-repair.ts'

const connection = { kind: 'custom', status: 'connected', last_error: null }

test.each([
  ['upstream answered 401: it does not accept the secret: Invalid API key', 'credential'],
  ['upstream answered 403: no access', 'credential'],
  ['the token endpoint refused the request: invalid_grant', 'credential'],
  ['GET https://api.example.com/v1 answered 404: the address or the path of the test is wrong', 'address'],
  ['OPTIONS https://api.example.com/ answered 301: redirects are not followed, use the final address', 'address'],
  ['the server cannot be reached', 'address'],
  ['GET https://api.example.com/v1 answered 503: busy', null],
  ['upstream answered 500', null],
])('a connection whose last error is "%s" offers: %s', (last_error, repair) => {
  expect(chooseRepair({ ...connection, last_error })).toBe(repair)
})

test('a connection that was never connected needs its credential', () => {
  expect(chooseRepair({ ...connection, status: 'needs_secret' })).toBe('credential')
})
