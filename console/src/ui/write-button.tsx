import type { ComponentProps } from 'react'
import type { Write } from '../api/write.ts'
import { Button } from './button.tsx'

/** Makes a write when pressed, and not again until it is done; `sure` is the question that is asked before. */
export function WriteButton({
  write,
  sure,
  disabled = false,
  ...rest
}: ComponentProps<typeof Button> & { write: Write; sure?: string }) {
  return (
    <Button
      {...rest}
      disabled={disabled || write.isPending}
      onClick={() => (sure === undefined || confirm(sure)) && write.mutate()}
    />
  )
}
