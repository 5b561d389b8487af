import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'

/** A mutation without arguments. */
export interface PlainMutation {
  isPending: boolean
  mutate: (input: void) => void
}

/** A mutation that invalidates queries by the first word of their key. main.tsx shows its errors as toasts. */
export function useApiMutation<Input = void, Result = unknown>(
  mutationFn: (input: Input) => Promise<Result>,
  { invalidates, onSuccess }: { invalidates: string[]; onSuccess?: (result: Result) => void },
) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn,
    onSuccess: async (result) => {
      const refetches = invalidates.map((first) => queries.invalidateQueries({ queryKey: [first] }))
      onSuccess?.(result)
      // The mutation stays pending until its queries are refetched, so that the page does not show the old state again.
      await Promise.all(refetches)
    },
  })
}

/** Sends one input at a time: a second click or a repeated key sends nothing, also before the page shows the first. */
export function useMutateOnce<Input>(
  mutate: (input: Input, options: { onSettled: () => void }) => void,
): (input: Input) => void {
  const isSending = useRef(false)
  return (input) => {
    if (isSending.current) return
    isSending.current = true
    mutate(input, { onSettled: () => (isSending.current = false) })
  }
}
