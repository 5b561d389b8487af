import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type Case, caseQuery } from '../../api/case-queries.ts'
import { callOperation, serverNow } from '../../api/http.ts'

interface CaseUpdate {
  id: string
  title?: string
  stage?: string
  status?: 'open' | 'closed'
  note?: string
  assignee_id?: string | null
}

/** Changes a case. A new stage is shown at once, so that a card stays where it was dropped. */
export function useChangeCase() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: CaseUpdate) => callOperation('updateCase', { id, body }),
    onMutate: async ({ id, stage }) => {
      if (stage === undefined) return
      // A list that was read before the change would move the card back for a moment.
      await queries.cancelQueries({ queryKey: ['cases'] })
      const move = (one: Case) => (one.id === id ? moveTo(one, stage) : one)
      queries.setQueriesData<Case[] | Case>({ queryKey: ['cases'] }, (cached) =>
        Array.isArray(cached) ? cached.map(move) : cached && move(cached),
      )
    },
    onSuccess: (changed) => queries.setQueryData(caseQuery(changed.id).queryKey, changed),
    // Also after an error, which moves the card back.
    onSettled: () => queries.invalidateQueries({ queryKey: ['cases'] }),
  })
}

/** With the entry of the history by which the board orders the cards of a stage. */
function moveTo(found: Case, stage: string): Case {
  const by = { kind: 'member', id: '', name: null }
  const entry = { from: found.stage, to: stage, at: new Date(serverNow()).toISOString(), by, note: null }
  return { ...found, stage, history: [...found.history, entry] }
}
