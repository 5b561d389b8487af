import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { ChangeNotice } from '../../api/live-updates.ts'
import type { TaskListItem } from '../../api/queries.ts'
import { TASK_STATUSES } from '../../api/types.ts'

type TaskList = InfiniteData<{ data: TaskListItem[]; next_cursor: string | null }>

/** Updates the status of a row in the loaded lists, without loading the lists again. */
export function patchTaskRow(queries: QueryClient, { kind, id, status }: ChangeNotice): void {
  const known = TASK_STATUSES.find((one) => one === status)
  if (kind !== 'task' || !known) return
  queries.setQueriesData<TaskList>({ queryKey: ['task-list'] }, (list) =>
    list ? mapRows(list, (row) => (row.id === id ? { ...row, status: known } : row)) : list,
  )
}

/** Pages without a changed row stay the same objects, so that they are not rendered again. */
function mapRows(list: TaskList, change: (row: TaskListItem) => TaskListItem): TaskList {
  const pages = list.pages.map((page) => {
    const data = page.data.map(change)
    return data.every((row, i) => row === page.data[i]) ? page : { ...page, data }
  })
  return { ...list, pages }
}
