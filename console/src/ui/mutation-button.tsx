import type { ComponentProps } from 'react'
import type { PlainMutation } from '../api/mutation.ts'
import { Button } from './button.tsx'

/** Makes a write when pressed, and not again until it is done; `sure` is the question that is asked before. */
export function MutationButton({
  mutation,
  confirmText,
  disabled = false,
  ...rest
}: ComponentProps<typeof Button> & { mutation: PlainMutation; confirmText?: string }) {
  return (
    <Button
      {...rest}
      disabled={disabled || mutation.isPending}
      onClick={() => (confirmText === undefined || confirm(confirmText)) && mutation.mutate()}
    />
  )
}
