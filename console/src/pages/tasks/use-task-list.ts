import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { type TaskFilter, newestTasksQuery, taskListQuery, type TaskListItem } from '../../api/queries.ts'

/**
 * The task list. Loaded rows change in place, and new tasks appear after a click, so that the list never moves under the
 * reader. The query of the newest tasks keeps the first rows up to date.
 */
export function useTaskList(filter: TaskFilter) {
  const queries = useQueryClient()
  const options = taskListQuery(filter)
  const list = useInfiniteQuery(options)
  const newest = useQuery(newestTasksQuery(filter))
  const rows = useMemo(
    () =>
      withNewestRows(
        list.data?.pages.flatMap(({ data }) => data),
        newest.data,
      ),
    [list.data, newest.data],
  )
  const newCount = useMemo(() => countNewer(rows, newest.data), [rows, newest.data])
  // An empty list shows its first tasks at once.
  const isFirst = rows?.length === 0 && newCount > 0
  const { refetch } = list
  useEffect(() => {
    if (isFirst) void refetch()
  }, [isFirst, refetch])
  return {
    rows,
    newCount,
    error: list.error,
    isPending: list.isPending,
    showNew: () => void queries.resetQueries({ queryKey: options.queryKey }),
    loadMore: () => {
      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
    },
  }
}

function withNewestRows(
  rows: TaskListItem[] | undefined,
  newest: TaskListItem[] | undefined,
): TaskListItem[] | undefined {
  if (!rows || !newest) return rows
  const latest = new Map(newest.map((row) => [row.id, row]))
  return rows.map((row) => latest.get(row.id) ?? row)
}

/** Counts the tasks that are newer than the first row; ids are time-ordered. */
function countNewer(rows: TaskListItem[] | undefined, newest: TaskListItem[] | undefined): number {
  const first = rows?.[0]?.id ?? ''
  return rows && newest ? newest.filter(({ id }) => id > first).length : 0
}
