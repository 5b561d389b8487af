import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { anyStore } from '../../app.ts'
import { addFile } from '../../work/files/add-file.ts'
import { callsFor, requestedApprovalId, sharedGatedApp, startAction } from '../decisions/gated-app.ts'

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')
const base64 = (content: string) => Buffer.from(content).toString('base64')

anyStore((store) => {
  describe('a file in the payload of an action', () => {
    const app = sharedGatedApp(store)

    const approve = (approval: string, body: object = {}) =>
      app().call('POST', `/v1/approvals/${approval}/approve`, body)

    test('is shown with name and hash, and its content is sent in base64', async () => {
      const file = await addFile(app(), 'Rechnung.txt', 'pay 5 €')
      const payload = { text: 'see file', files: [{ $file: file.id }] }
      const { id } = await startAction(app(), { payload })
      const approval = await requestedApprovalId(app(), id)
      const reference = { $file: file.id, name: 'Rechnung.txt', sha256: sha256('pay 5 €') }
      const { body } = await app().call('GET', `/v1/approvals/${approval}`)
      const preview = { text: 'see file', files: [reference] }
      expect(body.preview).toEqual(preview)
      expect(body.payload_sha256).toBe(
        sha256(
          `{"files":[{"$file":"${file.id}","name":"Rechnung.txt","sha256":"${reference.sha256}"}],"text":"see file"}`,
        ),
      )
      await approve(approval)
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { payload: preview } })
      expect(callsFor(app(), approval).map((call) => JSON.parse(call.body))).toEqual([
        { text: 'see file', files: [base64('pay 5 €')] },
      ])
    })

    test.each(['hook', 'mail'])('is sent by the connection %s', async (connection) => {
      const file = await addFile(app(), 'a.txt', 'alpha')
      const { id } = await startAction(app(), { connection, action: connection, payload: { file: { $file: file.id } } })
      const approval = await requestedApprovalId(app(), id)
      await approve(approval)
      await app().finished(id)
      expect(callsFor(app(), approval).map((call) => JSON.parse(call.body))).toMatchObject([{ file: base64('alpha') }])
    })

    test('can be exchanged by the approver, and the edit is what the hash covers', async () => {
      const [proposed, better] = [await addFile(app(), 'a.txt', 'alpha'), await addFile(app(), 'b.txt', 'beta')]
      const { id } = await startAction(app(), { payload: { file: { $file: proposed.id } } })
      const approval = await requestedApprovalId(app(), id)
      const unknown = await approve(approval, { edited: { file: { $file: 'file_unknown' } } })
      expect(unknown).toMatchObject({ status: 400, body: { error: 'no such file: file_unknown' } })
      expect((await approve(approval, { edited: { file: { $file: better.id } } })).status).toBe(200)
      const resolved = { file: { $file: better.id, name: 'b.txt', sha256: sha256('beta') } }
      expect(await app().finished(id)).toMatchObject({ output: { edited: true, payload: resolved } })
      expect(callsFor(app(), approval).map((call) => JSON.parse(call.body))).toEqual([{ file: base64('beta') }])
    })

    test('that was deleted while the approval waited is refused, and nothing is sent', async () => {
      const file = await addFile(app(), 'a.txt', 'alpha')
      const { id } = await startAction(app(), { payload: { file: { $file: file.id } } })
      const approval = await requestedApprovalId(app(), id)
      await app().call('DELETE', `/v1/files/${file.id}`)
      await approve(approval)
      const error = `file '${file.id}' was deleted after it was approved`
      expect(await app().finished(id)).toMatchObject({ output: { ok: false, error } })
      expect(callsFor(app(), approval)).toEqual([])
      const [effect] = (await app().call('GET', `/v1/tasks/${id}/actions`)).body.data
      expect(effect).toMatchObject({ outcome: 'failed', error })
    })

    test.each(['name', 'sha256'] as const)('whose %s has changed is refused, and nothing is sent', async (column) => {
      const file = await addFile(app(), 'a.txt', 'alpha')
      const { id } = await startAction(app(), { payload: { file: { $file: file.id } } })
      const approval = await requestedApprovalId(app(), id)
      await inTx(app().ctx, async (tx) => {
        await tx.db
          .updateTable('files')
          .set({ [column]: sha256('other') })
          .where('id', '=', file.id)
          .execute()
      })
      await approve(approval)
      const error = `file '${file.id}' is not the one that was approved`
      expect(await app().finished(id)).toMatchObject({ output: { ok: false, error } })
      expect(callsFor(app(), approval)).toEqual([])
    })

    test('whose bytes have changed is refused, and nothing is sent', async () => {
      const file = await addFile(app(), 'a.txt', 'alpha')
      const { id } = await startAction(app(), { payload: { file: { $file: file.id } } })
      const approval = await requestedApprovalId(app(), id)
      await inTx(app().ctx, async (tx) => {
        await tx.db
          .updateTable('file_chunks')
          .set({ content: base64('omega') })
          .where('file_id', '=', file.id)
          .execute()
      })
      await approve(approval)
      expect(await app().finished(id)).toMatchObject({ output: { ok: false } })
      expect(callsFor(app(), approval)).toEqual([])
    })

    test.each([
      ['an unknown file', { $file: 'file_unknown' }, 'no such file: file_unknown'],
      ['another name', { $file: 'ID', name: 'b.txt' }, "file 'ID' has another name than the payload says"],
      ['another hash', { $file: 'ID', sha256: 'x' }, "file 'ID' has another sha256 than the payload says"],
      ['a field more', { $file: 'ID', to: 'x' }, 'a file in a payload is {"$file": id} and has no field \'to\''],
    ])('with %s is refused before a person is asked', async (_, reference, error) => {
      const file = await addFile(app(), 'a.txt', 'alpha')
      const withId = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll('ID', file.id))
      const { id } = await startAction(app(), { payload: { deep: [{ file: withId(reference) }] } })
      expect(await app().finished(id)).toMatchObject({ output: { error: withId(error) } })
      expect((await app().call('GET', `/v1/approvals?task_id=${id}`)).body.data.length).toBe(0)
    })

    test('of another project is unknown, to the agent and to the approver', async () => {
      const [own, foreign] = [
        await addFile(app(), 'a.txt', 'alpha'),
        await addFile(app(), 'b.txt', 'beta', { projectId: 'prj_other' }),
      ]
      const error = `no such file: ${foreign.id}`
      const refused = await startAction(app(), { payload: { file: { $file: foreign.id } } })
      expect(await app().finished(refused.id)).toMatchObject({ output: { error } })
      const { id } = await startAction(app(), { payload: { file: { $file: own.id } } })
      const approval = await requestedApprovalId(app(), id)
      const edited = await approve(approval, { edited: { file: { $file: foreign.id } } })
      expect(edited).toMatchObject({ status: 400, body: { error } })
    })

    test('of a client is not for a task that does not have it', async () => {
      const mine = await app().call('POST', '/v1/clients', { handles: ['kim@example.com'] })
      const file = await addFile(app(), 'private.txt', 'mine', { clientId: mine.body.id })
      const refused = await startAction(app(), { payload: { file: { $file: file.id } } })
      expect(await app().finished(refused.id)).toMatchObject({ output: { error: `no such file: ${file.id}` } })
      const given = await startAction(app(), { payload: { file: { $file: file.id } } }, { files: [file.id] })
      await approve(await requestedApprovalId(app(), given.id))
      expect(await app().finished(given.id)).toMatchObject({ output: { ok: true } })
    })
  })
})
