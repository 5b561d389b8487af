import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { openTaskLog, type TaskLogState } from '../../api/task-log.ts'
import { taskQuery } from '../../api/queries.ts'
import type { TaskEvent } from '../../api/types.ts'
import { emptyStory, readOn, type Story } from './fold.ts'

/** After these the task's own record is different. */
const TELLING = new Set([
  'task.created',
  'approval.requested',
  'approval.resolved',
  'artifact.created',
  'task.finished',
])

export interface LoggedTask {
  events: readonly TaskEvent[]
  state: TaskLogState['state']
  story: Story
}

/** The task's log while the page is open, folded as it comes. */
export function useTaskStory(taskId: string): LoggedTask {
  const queries = useQueryClient()
  const story = useRef(emptyStory())
  const [logged, setLogged] = useState<LoggedTask>({ events: [], state: 'opening', story: story.current })
  useEffect(() => {
    story.current = emptyStory()
    const log = openTaskLog(taskId)
    const stop = log.subscribe(() => {
      const { events, state } = log.snapshot()
      const telling = events.slice(story.current.read).some(({ type }) => TELLING.has(type))
      story.current = readOn(story.current, events)
      setLogged({ events, state, story: story.current })
      if (telling) void queries.invalidateQueries({ queryKey: taskQuery(taskId).queryKey })
      if (telling) void queries.invalidateQueries({ queryKey: ['approvals'] })
    })
    return () => {
      stop()
      log.close()
    }
  }, [taskId, queries])
  return logged
}
