import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleStop, MessageSquarePlus, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { asCurl, call } from '../../api/http.ts'
import type { Task } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { May } from '../../ui/may.tsx'
import { toast } from '../../ui/toast.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import { FeedbackDialog } from './feedback.tsx'

/** What can be done with a task now: stop it while it works, run it again or teach it once it is over. */
export function TaskActions({ task }: { task: Task }) {
  const [teaching, setTeaching] = useState(false)
  const over = task.finished_at !== null
  return (
    <>
      <span className="max-sm:hidden">
        <CopyButton text={() => asCurl(`/v1/tasks/${task.id}`)} label="Copy as curl" />
      </span>
      <May least="operator">
        {over ? <Retry task={task} /> : <Cancel task={task} />}
        <Button onClick={() => setTeaching(true)} icon={<MessageSquarePlus size={14} />}>
          Feedback
        </Button>
      </May>
      {teaching && <FeedbackDialog task={task} onClose={() => setTeaching(false)} />}
    </>
  )
}

function Cancel({ task }: { task: Task }) {
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => call<Task>(`/v1/tasks/${task.id}/cancel`, { method: 'POST' }),
    onSuccess: () => toast('The task is cancelled'),
    onSettled: () => queries.invalidateQueries({ queryKey: ['tasks'] }),
  })
  return (
    <WriteButton look="danger" className="min-w-28" write={cancel} icon={<CircleStop size={14} />}>
      Cancel
    </WriteButton>
  )
}

function Retry({ task }: { task: Task }) {
  const navigate = useNavigate()
  const retry = useMutation({
    mutationFn: () => call<Task>(`/v1/tasks/${task.id}/retry`, { method: 'POST' }),
    onSuccess: ({ id }) => navigate({ to: '/tasks/$taskId', params: { taskId: id } }),
  })
  return (
    <WriteButton className="min-w-28" write={retry} icon={<RotateCw size={14} />}>
      Run again
    </WriteButton>
  )
}
