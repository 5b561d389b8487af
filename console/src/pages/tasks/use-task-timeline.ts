import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { openTaskLog, type TaskLogState } from '../../api/task-log.ts'
import { effectsQuery, taskQuery } from '../../api/queries.ts'
import type { TaskEvent } from '../../api/types.ts'
import { emptyTimeline, extendTimeline, type TaskTimeline } from './task-timeline.ts'

/** After these the task's own record is different. */
const REFRESHING_EVENTS = new Set([
  'task.created',
  'approval.requested',
  'approval.resolved',
  'artifact.created',
  'task.finished',
])

export interface FollowedTask {
  events: readonly TaskEvent[]
  state: TaskLogState['state']
  timeline: TaskTimeline
}

/** The task's log while the page is open, folded as it comes. */
export function useTaskTimeline(taskId: string): FollowedTask {
  const queries = useQueryClient()
  const story = useRef(emptyTimeline())
  const [logged, setLogged] = useState<FollowedTask>({ events: [], state: 'opening', timeline: story.current })
  useEffect(() => {
    story.current = emptyTimeline()
    const log = openTaskLog(taskId)
    const stop = log.subscribe(() => {
      const { events, state } = log.snapshot()
      const fresh = new Set(events.slice(story.current.eventCount).map(({ type }) => type))
      const telling = [...fresh].some((type) => REFRESHING_EVENTS.has(type))
      story.current = extendTimeline(story.current, events)
      setLogged({ events, state, timeline: story.current })
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
