import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { openTaskLog, type TaskLogState } from '../../api/task-log.ts'
import { effectsQuery, taskQuery } from '../../api/queries.ts'
import type { TaskEvent } from '../../api/types.ts'
import { emptyTimeline, extendTimeline, type TaskTimeline } from './task-timeline.ts'

/** Events that change the task itself, so that it is loaded again. */
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

/** Follows the log of the task while the page is open and builds its timeline. */
export function useTaskTimeline(taskId: string): FollowedTask {
  const queries = useQueryClient()
  const timeline = useRef(emptyTimeline())
  const [followed, setFollowed] = useState<FollowedTask>({ events: [], state: 'opening', timeline: timeline.current })
  useEffect(() => {
    timeline.current = emptyTimeline()
    const log = openTaskLog(taskId)
    const stop = log.subscribe(() => {
      const { events, state } = log.snapshot()
      const newTypes = new Set(events.slice(timeline.current.eventCount).map(({ type }) => type))
      const refreshes = [...newTypes].some((type) => REFRESHING_EVENTS.has(type))
      timeline.current = extendTimeline(timeline.current, events)
      setFollowed({ events, state, timeline: timeline.current })
      if (refreshes) void queries.invalidateQueries({ queryKey: taskQuery(taskId).queryKey })
      if (refreshes) void queries.invalidateQueries({ queryKey: ['approvals'] })
      // The result of an external action is stored before the agent gets it.
      if (refreshes || newTypes.has('tool.result')) {
        void queries.invalidateQueries({ queryKey: effectsQuery(taskId).queryKey })
      }
    })
    return () => {
      stop()
      log.close()
    }
  }, [taskId, queries])
  return followed
}
