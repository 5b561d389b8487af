import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { showToast } from '../../ui/toast.tsx'
import { conversationsText } from './text.ts'

interface ThreadChange {
  status?: 'open' | 'closed'
  held_by?: 'me' | null
  read?: true
  unanswered?: false
}

/** Closes, reopens, takes over, gives back, marks as read, or dismisses that the client waits. */
export function useChangeThread(id: string) {
  return useApiMutation((body: ThreadChange) => callOperation('updateThread', { id, body }), {
    invalidates: ['tasks', 'work', 'approvals'],
  })
}

/** Starts one task for the messages that wait for a person. */
export function useStartWaiting(id: string) {
  return useApiMutation(() => callOperation('startThreadTask', { id }), {
    invalidates: ['tasks', 'work'],
    onSuccess: () => showToast(conversationsText.startedWaiting),
  })
}
