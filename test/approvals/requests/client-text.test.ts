import { expect, test } from 'vitest'
import { describeForClient } from '../../../src/approvals/requests/client-text.ts'

test.each([
  ['en', 'Please confirm this reply'],
  ['de', 'Bitte bestätigen Sie diese Antwort'],
  ['fr', 'Veuillez confirmer cette réponse'],
  ['es', 'Por favor, confirme esta respuesta'],
] as const)('a client who decides about a reply reads it in %s', (language, title) => {
  const tool = JSON.stringify({ phrase: 'reply to a visitor in the portal', noun: 'reply', amount: null })
  const row = { action: 'portal:reply', tool, payload: '{"text":"Hello"}', edited: null }
  expect(describeForClient(row, language)).toEqual({ title, amount: null })
})
