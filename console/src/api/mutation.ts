import { useMutation, useQueryClient } from '@tanstack/react-query'

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
