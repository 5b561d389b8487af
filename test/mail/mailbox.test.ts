import { describe, expect, test } from 'vitest'
import { mailServerProblem } from '../../scripts/machine.mjs'
import { eachStore } from '../stores.ts'
import { deliverMail, mailboxApp, readThread, threadsUntil } from './mailbox-app.ts'

const problem = mailServerProblem()

describe.skipIf(problem !== null)(`a mailbox on Dovecot${problem === null ? '' : ` (skipped: ${problem})`}`, () => {
  eachStore((store) => {
    test('a mail with an attachment becomes a message with a file, and starts a task', async () => {
      const app = await mailboxApp(store)
      const attachments = [{ filename: 'Größe.txt', content: 'large' }]
      await deliverMail(app.server, {
        subject: 'Order',
        text: 'Where is it?',
        messageId: '<k1@test.example>',
        attachments,
      })
      const [thread] = await threadsUntil(app, (all) => (all[0]?.message_count ?? 0) >= 1)
      const { messages } = await readThread(app, thread?.id ?? '')
      expect(messages[0]).toMatchObject({
        direction: 'inbound',
        from: { handle: 'kim@test.example', name: 'Kim' },
        body: 'Where is it?',
        subject: 'Order',
        external_id: '<k1@test.example>',
        files: [{ name: 'Größe.txt', size: 5 }],
      })
      expect((await app.finished(messages[0].task_id)).output).toMatchObject({ reply: 'You wrote: Where is it?' })
    })
  })
})
