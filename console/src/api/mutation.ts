import { useMutation, useQueryClient } from '@tanstack/react-query'

/** One that needs to be told nothing more. */
export interface PlainMutation {
  isPending: boolean
  mutate: (given: void) => void
}

/** A write, and what it makes stale: the first words of query keys. A refusal becomes a toast by itself. */
export function useApiMutation<Given = void, Answer = unknown>(
  write: (given: Given) => Promise<Answer>,
  { invalidates, onSuccess }: { invalidates: string[]; onSuccess?: (answer: Answer) => void },
) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: write,
    onSuccess: async (answer) => {
      const read = invalidates.map((first) => queries.invalidateQueries({ queryKey: [first] }))
      onSuccess?.(answer)
      // Pending until what it changed is read again, so that nothing falls back in between.
      await Promise.all(read)
    },
  })
}
