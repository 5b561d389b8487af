import { expect, test } from 'vitest'
import type { Json } from '../../../src/platform/base/json.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import type { Actor } from '../../../src/platform/ctx/scope.ts'
import { recordCorrection } from '../../../src/wedges/knowledge/corrections.ts'
import { recordTaskFeedback } from '../../../src/wedges/knowledge/feedback.ts'
import { buildGrounding } from '../../../src/wedges/knowledge/grounding.ts'
import { anyStore } from '../../app.ts'
import { writeWedgeFiles } from '../library/wedge-folder.ts'
import {
  firstProjectId,
  insertFinishedTask,
  type KnowledgeApp,
  knowledgeApps,
  signUpOtherOrganisation,
} from './knowledge-app.ts'

const by: Actor = { kind: 'key', id: 'key_1' }

async function groundingOf(app: KnowledgeApp, client_id: string | null = null, input: Json = null, projectId?: string) {
  const wedge = await app.ctx.wedges.find(app.wedge)
  if (!wedge) throw new Error('the wedge does not exist')
  const task = { task_type: 'triage', input, client_id }
  return buildGrounding(app.ctx.db, wedge, projectId ?? (await firstProjectId(app)), task)
}
const names = (texts: { name: string }[]) => texts.map(({ name }) => name)
const addItem = (app: KnowledgeApp, name: string, content: string) =>
  app.call('POST', `${app.path}/knowledge`, { name, content })

anyStore((store) => {
  const openApp = knowledgeApps({ store })

  test('a run gets the authored files and the current live items', async () => {
    const app = await openApp()
    const { body: item } = await addItem(app, 'hours', 'Nine to five.')
    expect(await groundingOf(app)).toEqual({
      knowledge: [
        { name: 'terms.md', content: 'Thirty days.' },
        { name: 'hours', content: 'Nine to five.' },
      ],
      left_out: [],
    })
    await app.call('PUT', `/v1/knowledge/${item.id}`, { content: 'Nine to six.' })
    expect((await groundingOf(app)).knowledge[1]?.content).toBe('Nine to six.')
    await app.call('DELETE', `/v1/knowledge/${item.id}`)
    expect(names((await groundingOf(app)).knowledge)).toEqual(['terms.md'])
  })

  test('items that do not fit are named, and relevant items are kept', async () => {
    const app = await openApp()
    for (let n = 0; n < 7; n++) await addItem(app, `filler ${n}`, `filler ${n} `.repeat(800))
    await addItem(app, 'parcels', `A damaged parcel is replaced. ${'x'.repeat(20_000)}`)
    await app.clock.advance(60_000)
    for (let n = 7; n < 9; n++) await addItem(app, `filler ${n}`, `filler ${n} `.repeat(800))
    const { knowledge, left_out } = await groundingOf(app, null, { text: 'my parcel is damaged' })
    expect(names(knowledge).slice(0, 2)).toEqual(['terms.md', 'parcels'])
    expect(knowledge[1]?.content).toMatch(/^A damaged parcel .*\[the rest is left out\]$/s)
    expect(left_out).toContain('the end of parcels')
    expect(names(knowledge).filter((name) => name.startsWith('filler'))).toContain('filler 8')
    const live = knowledge.slice(1).reduce((sum, { content }) => sum + content.length, 0)
    expect(live).toBeLessThan(49 * 1024)
    expect(knowledge.length + left_out.length).toBe(1 + 10 + 1)
  })

  test('authored files over their limit are named, and do not displace live items', async () => {
    const app = await openApp()
    await writeWedgeFiles(app.wedgesDir, app.wedge, { 'knowledge/big.md': 'x'.repeat(200_000) })
    await addItem(app, 'hours', 'Nine to five.')
    await app.ctx.wedges.find('none')
    const { knowledge, left_out } = await groundingOf(app)
    expect(names(knowledge)).toEqual(['terms.md', 'hours'])
    expect(left_out).toEqual(['big.md'])
  })

  test('a correction stores the proposal, the edit and the difference', async () => {
    const app = await openApp()
    const { id: taskId } = await insertFinishedTask(app, null)
    const projectId = await firstProjectId(app)
    const id = await inTx(app.ctx, (tx) =>
      recordCorrection(tx, {
        projectId,
        wedge: app.wedge,
        taskId,
        approvalId: 'apr_1',
        action: 'mail:send',
        proposed: { to: 'ada', subject: 'Hi' },
        edited: { subject: 'Dear Ada' },
        by,
      }),
    )
    expect((await app.call('GET', `/v1/knowledge/${id}`)).body).toMatchObject({
      kind: 'correction',
      name: 'correction of mail:send',
      source: 'approval',
      task_id: taskId,
      metadata: {
        approval_id: 'apr_1',
        action: 'mail:send',
        proposed: { to: 'ada', subject: 'Hi' },
        edited: { subject: 'Dear Ada' },
        diff: [{ path: 'subject', before: 'Hi', after: 'Dear Ada' }],
      },
    })
    expect((await groundingOf(app)).knowledge[1]?.content).toContain('- subject: "Hi" → "Dear Ada"')
  })

  test('feedback becomes knowledge, but a rating alone does not', async () => {
    const app = await openApp()
    const task = await insertFinishedTask(app, null)
    const record = (feedback: object) => inTx(app.ctx, (tx) => recordTaskFeedback(tx, { actor: by }, task, feedback))
    expect(await record({ rating: 5 })).toBeNull()
    const id = await record({ rating: 2, note: 'Be kind.' })
    const { body } = await app.call('GET', `/v1/knowledge/${id}`)
    expect(body).toMatchObject({ kind: 'feedback', task_id: task.id, metadata: { rating: 2, note: 'Be kind.' } })
    expect((await groundingOf(app)).knowledge[1]?.content).toContain('Note: Be kind.')
  })

  test('a run never gets knowledge of another tenant or another client', async () => {
    const app = await openApp()
    for (const client of ['cli_a', 'cli_b', null]) {
      const task = await insertFinishedTask(app, client)
      await inTx(app.ctx, (tx) => recordTaskFeedback(tx, { actor: by }, task, { note: `about ${client}` }))
    }
    await addItem(app, 'ours', 'for all')
    const notesFor = async (client: string | null) => {
      const { knowledge } = await groundingOf(app, client)
      return knowledge.flatMap(({ content }) => /about \w+|for all/.exec(content)?.[0] ?? []).sort()
    }
    expect(await notesFor('cli_a')).toEqual(['about cli_a', 'about null', 'for all'])
    expect(await notesFor('cli_b')).toEqual(['about cli_b', 'about null', 'for all'])
    expect(await notesFor(null)).toEqual(['about null', 'for all'])

    const otherProjectId = (await app.call('GET', '/v1/projects', undefined, await signUpOtherOrganisation(app))).body
      .data[0].id
    expect(names((await groundingOf(app, null, null, otherProjectId)).knowledge)).toEqual(['terms.md'])
  })

  test('feedback that a founder changes to a fact is used for all clients', async () => {
    const app = await openApp()
    const task = await insertFinishedTask(app, 'cli_a')
    const item = await inTx(app.ctx, (tx) => recordTaskFeedback(tx, { actor: by }, task, { note: 'Sign as Ada.' }))
    expect(names((await groundingOf(app, 'cli_b')).knowledge)).toEqual(['terms.md'])
    await app.call('PUT', `/v1/knowledge/${item}`, { kind: 'fact', name: 'signature', content: 'Sign as Ada.' })
    expect(names((await groundingOf(app, 'cli_b')).knowledge)).toEqual(['terms.md', 'signature'])
  })
})
