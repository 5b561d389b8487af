import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { type TaskFilter, newestTasksQuery, taskListQuery, type TaskListItem } from '../../api/queries.ts'

/**
 * A list that never jumps: rows that are shown change in place, and what is new waits to be asked for. The head is the
 * first page again, kept fresh by the live stream; the list itself is read only further down.
 */
export function useTaskList(filter: TaskFilter) {
  const queries = useQueryClient()
  const options = taskListQuery(filter)
  const list = useInfiniteQuery(options)
  const head = useQuery(newestTasksQuery(filter))
  const rows = useMemo(
    () =>
      withNewestRows(
        list.data?.pages.flatMap(({ data }) => data),
        head.data,
      ),
    [list.data, head.data],
  )
  const fresh = useMemo(() => countNewer(rows, head.data), [rows, head.data])
  // Nobody reads an empty list: the first ones need no asking.
  const first = rows?.length === 0 && fresh > 0
  const { refetch } = list
  useEffect(() => {
    if (first) void refetch()
  }, [first, refetch])
  return {
    rows,
    fresh,
    error: list.error,
    isPending: list.isPending,
    showFresh: () => void queries.resetQueries({ queryKey: options.queryKey }),
    more: () => {
      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
    },
  }
}

function withNewestRows(
  rows: TaskListItem[] | undefined,
  head: TaskListItem[] | undefined,
): TaskListItem[] | undefined {
  if (!rows || !head) return rows
  const latest = new Map(head.map((row) => [row.id, row]))
  return rows.map((row) => latest.get(row.id) ?? row)
}

/** Ids are time-ordered: what is newer than the first row came after the list was read. */
function countNewer(rows: TaskListItem[] | undefined, head: TaskListItem[] | undefined): number {
  const first = rows?.[0]?.id ?? ''
  return rows && head ? head.filter(({ id }) => id > first).length : 0
}
