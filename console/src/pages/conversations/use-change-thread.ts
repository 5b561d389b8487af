import type { ThreadSummary } from '../../api/conversation-queries.ts'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'

interface ThreadChange {
  status?: 'open' | 'closed'
  held_by?: 'me' | null
  read?: true
  unanswered?: false
}

/** Closes, reopens, takes over, gives back, marks as read, or dismisses that the client waits. */
export function useChangeThread(id: string) {
  return useApiMutation((body: ThreadChange) => callApi<ThreadSummary>(`/v1/threads/${id}`, { method: 'PUT', body }), {
    invalidates: ['tasks', 'work', 'approvals'],
  })
}
