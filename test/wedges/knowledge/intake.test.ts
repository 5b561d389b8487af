import { expect, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { reportKnowledgeGap } from '../../../src/wedges/knowledge/intake.ts'
import { eachStore } from '../../app.ts'
import { minimalManifest, writeWedgeFiles } from '../library/wedge-folder.ts'
import {
  firstProjectId,
  type KnowledgeApp,
  knowledgeApps,
  signUpOtherOrganisation,
  wedgeAuditActions,
} from './knowledge-app.ts'

async function reportGap(app: KnowledgeApp, question: string, why?: string) {
  const projectId = await firstProjectId(app)
  return inTx(app.ctx, (tx) => reportKnowledgeGap(tx, { projectId, wedge: app.wedge, taskId: 'task_1', question, why }))
}

eachStore((store) => {
  const openApp = knowledgeApps({ store })

  test('seed questions are shown before they are answered, and coverage follows the answers', async () => {
    const app = await openApp()
    const before = await app.call('GET', `${app.path}/intake`)
    expect(before.status).toBe(200)
    expect(before.body).toMatchObject({ wedge: app.wedge, coverage: 0 })
    expect(before.body.questions[0]).toEqual({
      id: 'window',
      project_id: await firstProjectId(app),
      question: 'How many days may a customer wait?',
      why: 'It decides refunds.',
      kind: 'seed',
      status: 'open',
      answer: null,
      knowledge_id: null,
      task_id: null,
      asked: 0,
      created_at: null,
    })
    const answered = await app.call('POST', `${app.path}/intake/window`, { answer: 'Thirty.' })
    expect(answered).toMatchObject({ status: 200, body: { id: 'window', status: 'answered', answer: 'Thirty.' } })
    const item = await app.call('GET', `/v1/knowledge/${answered.body.knowledge_id}`)
    expect(item.body).toMatchObject({ kind: 'answer', wedge: app.wedge, name: 'How many days may a customer wait?' })
    expect(item.body.content).toBe('Question: How many days may a customer wait?\nAnswer: Thirty.')
    expect((await app.call('GET', `${app.path}/intake`)).body).toMatchObject({
      coverage: 50,
      questions: [
        { id: 'window', status: 'answered', answer: 'Thirty.' },
        { id: 'who', status: 'open' },
      ],
    })
    const dismissed = await app.call('POST', `${app.path}/intake/who/dismiss`)
    expect(dismissed).toMatchObject({ status: 200, body: { id: 'who', status: 'dismissed' } })
    expect((await app.call('GET', `${app.path}/intake`)).body.coverage).toBe(100)
    const audit = (await wedgeAuditActions(app)).filter((action) => action.startsWith('intake.'))
    expect(audit).toEqual(['intake.answered', 'intake.dismissed'])
  })

  test('a wedge without questions has a coverage of 100', async () => {
    const app = await openApp()
    await writeWedgeFiles(app.wedgesDir, 'bare', { 'wedge.json': minimalManifest('bare') })
    const { body } = await app.call('GET', '/v1/wedges/bare/intake')
    expect(body).toEqual({ wedge: 'bare', coverage: 100, questions: [] })
  })

  test('a repeated gap is one question with a count, also under concurrent reports', async () => {
    const app = await openApp()
    await Promise.all(
      Array.from({ length: 10 }, () => reportGap(app, 'What is the return address?', 'A parcel waits.')),
    )
    await reportGap(app, 'what is the return-address')
    const { body } = await app.call('GET', `${app.path}/intake`)
    expect(body.questions).toHaveLength(3)
    expect(body.questions[2]).toMatchObject({
      question: 'What is the return address?',
      why: 'A parcel waits.',
      kind: 'gap',
      status: 'open',
      task_id: 'task_1',
      asked: 11,
    })
    const path = `${app.path}/intake/${body.questions[2].id}`
    expect((await app.call('POST', path, { answer: 'Main street 1' })).body).toMatchObject({ status: 'answered' })
    await reportGap(app, 'What is the return address?')
    expect((await app.call('GET', `${app.path}/intake`)).body).toMatchObject({
      coverage: 33,
      questions: [{}, {}, { status: 'answered', asked: 12 }],
    })
  })

  test('only the newest gaps are shown with the seeds, and older ones can still be answered', async () => {
    const app = await openApp()
    const { question_id } = await reportGap(app, 'The first of all?')
    await app.call('POST', `${app.path}/intake/who`, { answer: 'Ada' })
    const row = await app.ctx.db
      .selectFrom('intake_questions')
      .selectAll()
      .where('wedge', '=', app.wedge)
      .where('question_id', '=', question_id)
      .executeTakeFirstOrThrow()
    const newer = Array.from({ length: 1200 }, (_, n) => ({
      ...row,
      id: `${row.id}-${n}`,
      question_id: `${question_id}-${n}`,
      created_at: '2999-01-01T00:00:00.000Z',
    }))
    await app.ctx.store.transact((db) => db.insertInto('intake_questions').values(newer).execute())
    const { questions } = (await app.call('GET', `${app.path}/intake`)).body
    expect(questions).toHaveLength(1001)
    expect(questions.slice(0, 2)).toMatchObject([{ id: 'window' }, { id: 'who', status: 'answered' }])
    expect(questions.some(({ id }: { id: string }) => id === question_id)).toBe(false)
    const answered = await app.call('POST', `${app.path}/intake/${question_id}`, { answer: 'Yes.' })
    expect(answered).toMatchObject({ status: 200, body: { question: 'The first of all?', status: 'answered' } })
  })

  test('a gap with the words of a seed question is counted on the seed', async () => {
    const app = await openApp()
    await reportGap(app, 'who takes over')
    const { body } = await app.call('GET', `${app.path}/intake`)
    expect(body.questions).toHaveLength(2)
    expect(body.questions[1]).toMatchObject({ id: 'who', kind: 'seed', question: 'Who takes over?', asked: 1 })
  })

  test('a second answer becomes the next version of the same item', async () => {
    const app = await openApp()
    const path = `${app.path}/intake/who`
    const responses = await Promise.all(['Ada', 'Bob', 'Cyd'].map((answer) => app.call('POST', path, { answer })))
    expect(new Set(responses.map(({ body }) => body.knowledge_id)).size).toBe(1)
    const { body } = await app.call('GET', `${app.path}/knowledge`)
    expect(body.data).toMatchObject([{ version: 3, kind: 'answer' }])
    expect(await app.call('POST', `${path}/dismiss`)).toMatchObject({
      status: 409,
      body: { error: 'question already answered' },
    })
  })

  test('a dismissed question can still be answered, and deleting the answer reopens it', async () => {
    const app = await openApp()
    const path = `${app.path}/intake/who`
    expect((await app.call('POST', `${path}/dismiss`)).status).toBe(200)
    expect((await app.call('POST', `${path}/dismiss`)).status).toBe(200)
    const { body } = await app.call('POST', path, { answer: 'Ada' })
    expect((await app.call('DELETE', `/v1/knowledge/${body.knowledge_id}`)).status).toBe(204)
    const { questions } = (await app.call('GET', `${app.path}/intake`)).body
    expect(questions[1]).toMatchObject({ id: 'who', status: 'open', answer: null, knowledge_id: null })
  })

  test('an invalid answer is 400, an unknown question or wedge 404, and organisations have separate questions', async () => {
    const app = await openApp()
    const path = `${app.path}/intake/who`
    expect(await app.call('POST', path, {})).toMatchObject({
      status: 400,
      body: { error: "field 'answer' is required" },
    })
    expect((await app.call('POST', path, { answer: ' ' })).status).toBe(400)
    const absent = { status: 404, body: { error: 'no such question' } }
    expect(await app.call('POST', `${app.path}/intake/absent`, {})).toMatchObject(absent)
    expect(await app.call('POST', `${app.path}/intake/absent/dismiss`)).toMatchObject(absent)
    expect((await app.call('GET', '/v1/wedges/absent/intake')).body).toEqual({ error: 'no such wedge' })
    const { question_id } = await reportGap(app, 'Where?')
    await app.call('POST', path, { answer: 'Ada' })
    const other = await signUpOtherOrganisation(app)
    const { body } = await app.call('GET', `${app.path}/intake`, undefined, other)
    expect(body).toMatchObject({ coverage: 0, questions: [{ status: 'open' }, { status: 'open' }] })
    expect(await app.call('POST', `${app.path}/intake/${question_id}`, { answer: 'x' }, other)).toMatchObject(absent)
  })
})
