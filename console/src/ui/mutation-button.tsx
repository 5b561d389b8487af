import type { ComponentProps } from 'react'
import type { PlainMutation } from '../api/mutation.ts'
import { Button } from './button.tsx'

/** Runs a mutation when pressed, one at a time; `confirmText` asks for confirmation first. */
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
