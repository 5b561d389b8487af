import { expect, test } from 'vitest'
import type { ParserThreads } from '../../src/platform/ctx/worker-thread.ts'
import type { NotifierActivity, NotifierKind } from '../../src/approvals/notifications/notifier.ts'
import { NOTIFIER_KINDS } from '../../src/approvals/notifications/notifier.ts'
import { findNotifierOfKind } from '../../src/approvals/notifications/notifier-table.ts'
import { createBodyReader } from '../../src/customers/channels/parsers/parse-untrusted.ts'
import { insertTestConnection, openTestContext } from '../connections/test-context.ts'
import { textUpdate } from '../approvals/notifications/telegram-app.ts'
import { directMessage } from '../approvals/notifications/slack-app.ts'
import { CountedThreads, expectOutsideOfThisThread, measure, unlessRefused } from './counted-threads.ts'
import { BODIES, HTML, JSON_BODIES, TEXTS } from './hostile-shapes.ts'

/** Half of what the hook accepts. */
const MAX_BYTES = 500_000
/** A member types into a few fields. Apart from them, only what is sent to Slack or Telegram leaves the parser. */
const MAX_CHARACTERS = 600_000

const formOf = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()

const clickOf = (value: string): object => ({
  type: 'block_actions',
  user: { id: 'U1' },
  trigger_id: 't',
  response_url: 'https://slack.example/r',
  actions: [{ type: 'button', action_id: 'approve', value }],
})

const submissionOf = (value: string): object => ({
  type: 'view_submission',
  user: { id: 'U1' },
  view: { callback_id: 'edit', private_metadata: value, state: { values: { 'field-0': { value: { value } } } } },
})

/** The calls of a service with a text in every place where a stranger may write one. */
const CALLS_WITH: Record<string, (text: string) => string[]> = {
  slack: (text) => [
    directMessage('U1', text),
    formOf({ command: '/link', user_id: 'U1', text }),
    formOf({ payload: JSON.stringify(clickOf(text)) }),
    formOf({ payload: JSON.stringify(submissionOf(text)) }),
  ],
  telegram: (text) => [
    JSON.stringify(textUpdate(7, text)),
    JSON.stringify(textUpdate(7, 'no', { reply_to_message: { from: { is_bot: true }, text } })),
    JSON.stringify({
      callback_query: { id: '1', data: text, message: { message_id: 1, chat: { id: 7, type: 'private' } } },
    }),
  ],
}

/** The bodies of a service, also as the JSON in a form. */
const BODIES_OF: Record<string, string[]> = {
  slack: [
    ...BODIES.map((shape) => shape(MAX_BYTES)),
    ...Object.values(JSON_BODIES).map((shape) => formOf({ payload: shape(MAX_BYTES / 3) })),
  ],
  telegram: BODIES.map((shape) => shape(MAX_BYTES)),
}

const KINDS = NOTIFIER_KINDS.filter((kind) => findNotifierOfKind(kind).hook)

async function openNotifier(kind: NotifierKind) {
  const { ctx } = await openTestContext()
  const connection = await insertTestConnection(ctx, { config: {} })
  const { hook } = findNotifierOfKind(kind)
  const notifier = { id: 'ntf_1', project_id: 'prj_1', kind, connection_id: connection.id }
  return (parserThreads: ParserThreads, body: Buffer): Promise<NotifierActivity | null> => {
    const own = { ...ctx, parserThreads }
    const call = { notifier, connection, secret: 'secret', headers: {}, body, read: createBodyReader(own, body) }
    return unlessRefused((hook ?? expect.fail()).parse(own, call as never).then((activity) => activity))
  }
}

test('both services whose calls the notifiers receive are in these tests', () => {
  expect(KINDS).toEqual(Object.keys(CALLS_WITH))
})

test.each(KINDS)(
  'no call of a member in %s is parsed on the event loop, and what it becomes is bounded',
  async (kind) => {
    const { ctx } = await openTestContext()
    const parse = await openNotifier(kind)
    const texts = [...Object.values(TEXTS), ...Object.values(HTML)]
    const calls = texts.flatMap((shape) => CALLS_WITH[kind]?.(shape(MAX_BYTES / 10)) ?? [])
    for (const body of [...(BODIES_OF[kind] ?? []), ...calls].map((one) => Buffer.from(one))) {
      const threads = new CountedThreads(ctx.parserThreads)
      const activity = await parse(threads, Buffer.from(body))
      expectOutsideOfThisThread(body, threads)
      expect(measure(activity?.events ?? []).texts).toBeLessThan(MAX_CHARACTERS)
    }
  },
)
