import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { ChangeNotice } from '../../api/live-updates.ts'
import type { TaskListItem } from '../../api/queries.ts'
import { TASK_STATUSES } from '../../api/types.ts'

type TaskList = InfiniteData<{ data: TaskListItem[]; next_cursor: string | null }>

/** A row that is shown anywhere in a long list takes its new status at once, without reading the list again. */
export function patchTaskRow(queries: QueryClient, { kind, id, status }: ChangeNotice): void {
  const known = TASK_STATUSES.find((one) => one === status)
  if (kind !== 'task' || !known) return
  queries.setQueriesData<TaskList>({ queryKey: ['task-list'] }, (list) =>
    list ? mapRows(list, (row) => (row.id === id ? { ...row, status: known } : row)) : list,
  )
}

/** Pages without a changed row keep their identity, so nothing is drawn again for them. */
function mapRows(list: TaskList, change: (row: TaskListItem) => TaskListItem): TaskList {
  const pages = list.pages.map((page) => {
    const data = page.data.map(change)
    return data.every((row, i) => row === page.data[i]) ? page : { ...page, data }
  })
  return { ...list, pages }
}
