import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { openTaskLog, type TaskLogState } from '../../api/task-log.ts'
import { effectsQuery, taskQuery } from '../../api/queries.ts'
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
      const fresh = new Set(events.slice(story.current.read).map(({ type }) => type))
      const telling = [...fresh].some((type) => TELLING.has(type))
      story.current = readOn(story.current, events)
      setLogged({ events, state, story: story.current })
      if (telling) void queries.invalidateQueries({ queryKey: taskQuery(taskId).queryKey })
      if (telling) void queries.invalidateQueries({ queryKey: ['approvals'] })
      // An action's outcome is written before the agent hears of it.
      if (telling || fresh.has('tool.result')) {
        void queries.invalidateQueries({ queryKey: effectsQuery(taskId).queryKey })
      }
    })
    return () => {
      stop()
      log.close()
    }
  }, [taskId, queries])
  return logged
}
