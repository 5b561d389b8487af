import { RotateCw } from 'lucide-react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { tasksText } from './text.ts'

/** Starts a finished task again, as a new task. */
export function RunAgainButton({
  taskId,
  small = false,
  onStarted,
}: {
  taskId: string
  small?: boolean
  onStarted: (newTaskId: string) => void
}) {
  const retry = useApiMutation(() => callOperation('retryTask', { id: taskId }), {
    invalidates: ['tasks'],
    onSuccess: ({ id }) => onStarted(id),
  })
  return (
    <MutationButton small={small} className={small ? '' : 'min-w-28'} mutation={retry} icon={<RotateCw size={14} />}>
      {tasksText.actions.runAgain}
    </MutationButton>
  )
}
