import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleStop, MessageSquarePlus } from 'lucide-react'
import { useState } from 'react'
import { toCurl, callOperation } from '../../api/http.ts'
import type { Task } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { showToast } from '../../ui/toast.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { uiText } from '../../ui/text.ts'
import { FeedbackDialog } from './feedback-dialog.tsx'
import { RunAgainButton } from './run-again-button.tsx'
import { tasksText } from './text.ts'

const text = tasksText.actions

/** Cancels an active task, or runs a finished task again; both can get feedback. */
export function TaskActions({ task }: { task: Task }) {
  const [feedbackOpen, setFeedbackOpen] = useState(false)
  const navigate = useNavigate()
  const openTask = (taskId: string) => void navigate({ to: '/tasks/$taskId', params: { taskId } })
  const isFinished = task.finished_at !== null
  return (
    <>
      <span className="max-sm:hidden">
        <CopyButton text={() => toCurl('getTask', { id: task.id })} label={uiText.copyAsCurl} />
      </span>
      <RequireRole minRole="operator">
        {isFinished ? <RunAgainButton taskId={task.id} onStarted={openTask} /> : <CancelButton task={task} />}
        <Button onClick={() => setFeedbackOpen(true)} icon={<MessageSquarePlus size={14} />}>
          {text.feedback}
        </Button>
      </RequireRole>
      {feedbackOpen && <FeedbackDialog task={task} onClose={() => setFeedbackOpen(false)} />}
    </>
  )
}

function CancelButton({ task }: { task: Task }) {
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => callOperation('cancelTask', { id: task.id }),
    onSuccess: () => showToast(text.cancelled),
    onSettled: () => queries.invalidateQueries({ queryKey: ['tasks'] }),
  })
  return (
    <MutationButton variant="danger" className="min-w-28" mutation={cancel} icon={<CircleStop size={14} />}>
      {text.cancel}
    </MutationButton>
  )
}
