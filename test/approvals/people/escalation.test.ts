import { describe, expect, test } from 'vitest'
import { auditActions } from '../../identity/accounts/members.ts'
import { anyStore, eachStore } from '../../app.ts'
import { startReplica, stopReplica } from '../decisions/gated-app.ts'
import { askFor, decide, type PeopleApp, readApproval, sharedPeopleApp } from './people-app.ts'

/** Advances the clock until the approval shows the step. */
async function advanceUntilEscalated(app: PeopleApp, approval: string, approvers: string[] | null) {
  await expect
    .poll(async () => {
      await app.clock.advance(1_000)
      const shown = await readApproval(app, approval)
      return shown.escalated_at === null ? 'not escalated' : shown.approvers
    })
    .toEqual(approvers)
}

anyStore((store) => {
  describe('an approval without a decision', () => {
    const app = sharedPeopleApp(store)

    test('is given to more people, step by step, and they may decide from then on', async () => {
      const { admin, owner } = app().people
      const { task, approval } = await askFor(app(), 'wake')
      expect(await readApproval(app(), approval)).toMatchObject({ approvers: ['operator-two@example.com'] })
      expect((await decide(app(), admin, approval, 'approve')).status).toBe(403)
      await app().clock.advance(59_000)
      expect(await readApproval(app(), approval)).toMatchObject({ escalated_at: null })
      const first = ['operator-two@example.com', 'admin-two@example.com']
      await advanceUntilEscalated(app(), approval, first)
      const { escalated_at, project_id } = await readApproval(app(), approval)
      expect((await decide(app(), owner, approval, 'approve')).status).toBe(403)
      await app().clock.advance(535_000)
      expect(await readApproval(app(), approval)).toMatchObject({ escalated_at })
      await advanceUntilEscalated(app(), approval, [...first, 'owner'])
      const actions = (await auditActions(app(), project_id)).filter((action) => action === 'approval.escalated')
      expect(actions).toHaveLength(2)
      expect((await decide(app(), owner, approval, 'approve')).status).toBe(200)
      await app().finished(task)
    })

    test('keeps that everyone may decide, if it has no list of approvers', async () => {
      const { approval } = await askFor(app(), 'remind')
      await app().clock.advance(58_000)
      expect(await readApproval(app(), approval)).toMatchObject({ approvers: null, escalated_at: null })
      await advanceUntilEscalated(app(), approval, null)
      expect((await decide(app(), app().people.second, approval, 'approve')).status).toBe(200)
    })

    test('is not escalated after the decision', async () => {
      const { task, approval } = await askFor(app(), 'remind')
      await decide(app(), app().people.second, approval, 'approve')
      await app().finished(task)
      await app().clock.advance(70_000)
      expect(await readApproval(app(), approval)).toMatchObject({ escalated_at: null })
    })
  })
})

eachStore((store) => {
  describe('an approval without a decision', () => {
    const app = sharedPeopleApp(store)

    test.runIf(store === 'postgres')('is escalated once by two replicas', async () => {
      const other = await startReplica(app())
      const { approval } = await askFor(app(), 'remind')
      const { project_id } = await readApproval(app(), approval)
      const escalations = async () =>
        (await auditActions(app(), project_id)).filter((action) => action === 'approval.escalated').length
      const before = await escalations()
      await app().clock.advance(55_000)
      await advanceUntilEscalated(app(), approval, null)
      await app().clock.advance(5_000)
      expect(await escalations()).toBe(before + 1)
      await stopReplica(app(), other)
    })
  })
})
