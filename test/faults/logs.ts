import { expect } from 'vitest'
import { oneTo } from '../events/streams.ts'
import type { Answered } from '../http.ts'
import type { Service } from './service.ts'

/** Follows a task to its end and checks all that must hold of its log and its record. Answers the record. */
export async function expectWholeLog(service: Service, taskId: string): Promise<Answered['body']> {
  const events = await service.events(taskId)
  const { status, body: task } = await service.call('GET', `/v1/tasks/${taskId}`)
  expect(status).toBe(200)
  expect(events.map(({ id }) => Number(id))).toEqual(oneTo(events.length))
  expect(events.map(({ data }) => [data.id, data.seq, data.task_id])).toEqual(
    oneTo(events.length).map((seq) => [seq, seq, taskId]),
  )
  const types = events.map(({ event }) => event)
  expect(types[0]).toBe('task.created')
  expect(types.at(-1)).toBe('task.finished')
  expect(types.filter((type) => type === 'task.created' || type === 'task.finished')).toHaveLength(2)
  expect(task).toMatchObject({ last_event_id: events.length, status: events.at(-1)?.data.data.status })
  expect(task.error).toEqual(events.at(-1)?.data.data.error ?? null)
  return task
}
