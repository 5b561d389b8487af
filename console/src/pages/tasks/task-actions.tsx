import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleStop, MessageSquarePlus, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { toCurl, callApi } from '../../api/http.ts'
import type { Task } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { showToast } from '../../ui/toast.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { FeedbackDialog } from './feedback-dialog.tsx'

/** What can be done with a task now: stop it while it works, run it again or teach it once it is over. */
export function TaskActions({ task }: { task: Task }) {
  const [teaching, setTeaching] = useState(false)
  const over = task.finished_at !== null
  return (
    <>
      <span className="max-sm:hidden">
        <CopyButton text={() => toCurl(`/v1/tasks/${task.id}`)} label="Copy as curl" />
      </span>
      <RequireRole minRole="operator">
        {over ? <RetryButton task={task} /> : <CancelButton task={task} />}
        <Button onClick={() => setTeaching(true)} icon={<MessageSquarePlus size={14} />}>
          Feedback
        </Button>
      </RequireRole>
      {teaching && <FeedbackDialog task={task} onClose={() => setTeaching(false)} />}
    </>
  )
}

function CancelButton({ task }: { task: Task }) {
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => callApi<Task>(`/v1/tasks/${task.id}/cancel`, { method: 'POST' }),
    onSuccess: () => showToast('The task is cancelled'),
    onSettled: () => queries.invalidateQueries({ queryKey: ['tasks'] }),
  })
  return (
    <MutationButton variant="danger" className="min-w-28" mutation={cancel} icon={<CircleStop size={14} />}>
      Cancel
    </MutationButton>
  )
}

function RetryButton({ task }: { task: Task }) {
  const navigate = useNavigate()
  const retry = useMutation({
    mutationFn: () => callApi<Task>(`/v1/tasks/${task.id}/retry`, { method: 'POST' }),
    onSuccess: ({ id }) => navigate({ to: '/tasks/$taskId', params: { taskId: id } }),
  })
  return (
    <MutationButton className="min-w-28" mutation={retry} icon={<RotateCw size={14} />}>
      Run again
    </MutationButton>
  )
}
