import { expect, test } from 'vitest'
import { anyStore, testApp } from '../../app.ts'
import { eventually } from '../../execution/runs/scripted-agent.ts'

/** The interval of the schedule sweep: half of the shortest cadence. */
const SWEEP_INTERVAL_MS = 500

anyStore((store) => {
  test('no due time of the shortest cadence is skipped if every sweep is a little late', async () => {
    const app = await testApp({ store })
    const cadence = { kind: 'every', seconds: 1 }
    const { status, body } = await app.call('POST', '/v1/schedules', {
      name: 'S',
      wedge: 'echo',
      task_type: 'say',
      cadence,
    })
    expect(status).toBe(201)
    // Six seconds in total.
    for (let sweep = 0; sweep < 10; sweep++) {
      await eventually(() => app.clock.hasTimerIn(SWEEP_INTERVAL_MS))
      app.clock.jump(SWEEP_INTERVAL_MS + 100)
    }
    await eventually(() => app.clock.hasTimerIn(SWEEP_INTERVAL_MS))
    const fired = app.ctx.db.selectFrom('tasks').select('id').where('schedule_id', '=', body.id).execute()
    expect(await fired).toHaveLength(6)
  })
})
