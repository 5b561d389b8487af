import { Check } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { saveFile } from '../ui/save-file.ts'
import { followTask } from './follow-task.ts'
import { usePortalText } from './language.tsx'
import { fetchPortal } from './portal-api.ts'
import { noProgress, type TaskProgress } from './task-steps.ts'

/** The live progress of a message's task, and its files. */
export function TaskProgressView({
  taskId,
  following,
  hasReply,
  isOwn,
  onChanged,
}: {
  taskId: string
  following: boolean
  /** The client got a reply after the message. */
  hasReply: boolean
  /** Whether it is shown below a message of the client, on the right. */
  isOwn: boolean
  /** The task has ended, or asks the client something else. */
  onChanged: () => void
}) {
  const text = usePortalText()
  const [isOpen, setIsOpen] = useState(following)
  const [progress, setProgress] = useState<TaskProgress | null>(null)
  const changed = useEffectEvent(onChanged)
  const isActive = isOpen || following
  useEffect(() => {
    if (!isActive) return undefined
    const stop = new AbortController()
    let { questionId, approvalChanges } = noProgress
    void followTask(taskId, text, stop.signal, (update) => {
      setProgress(update)
      const isAsked = update.questionId !== questionId || update.approvalChanges !== approvalChanges
      if (update.isFinished || isAsked) changed()
      questionId = update.questionId
      approvalChanges = update.approvalChanges
    })
    return () => stop.abort()
  }, [isActive, taskId, text])
  if (!isActive) {
    return (
      <Button small variant="ghost" onClick={() => setIsOpen(true)}>
        {text.showResult}
      </Button>
    )
  }
  return (
    <div
      className={`flex w-full flex-col gap-1.5 text-xs text-muted ${isOwn ? 'items-end text-right' : 'items-start'}`}
      data-ended={progress?.isFinished}
    >
      <StatusLine progress={progress} hasReply={hasReply} />
      {progress && progress.steps.length > 1 && <Steps progress={progress} />}
      {progress?.files.map((file) => (
        <Button
          key={file.id}
          small
          className="h-auto! min-h-7 max-w-full py-1 wrap-anywhere whitespace-normal!"
          onClick={() => void saveFile(fetchPortal(`/v1/portal/artifacts/${file.id}`), file.name)}
        >
          {text.download(file.name.split('/').at(-1) ?? file.name)}
        </Button>
      ))}
    </div>
  )
}

function StatusLine({ progress, hasReply }: { progress: TaskProgress | null; hasReply: boolean }) {
  const words = usePortalText().progress
  const { isFinished = false, needsReply = false, steps = [] } = progress ?? {}
  const ended = needsReply ? (hasReply ? ' ' : words.needsReply) : words.done
  return (
    <span role="status" className="flex items-center gap-1.5">
      {!isFinished && <span aria-hidden className="size-1.5 animate-breathe rounded-full bg-accent" />}
      {isFinished && !needsReply && <Check size={13} aria-hidden />}
      {isFinished ? ended : (steps.at(-1) ?? words.received)}
    </span>
  )
}

/** What was done so far, folded so that the conversation stays short. */
function Steps({ progress: { steps, isFinished } }: { progress: TaskProgress }) {
  const words = usePortalText().progress
  return (
    <details className="w-full">
      <summary className="inline-block underline decoration-dotted underline-offset-2">
        {words.steps(steps.length)}
      </summary>
      <ol className="mt-1.5 flex flex-col gap-1 text-left">
        {steps.map((step, n) => (
          // Steps are only ever added at the end.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={n} className="flex items-start gap-1.5 break-words">
            {isFinished || n < steps.length - 1 ? (
              <Check size={13} aria-hidden className="mt-0.5 shrink-0" />
            ) : (
              <span aria-hidden className="mx-1 mt-1.5 size-1.5 shrink-0 animate-breathe rounded-full bg-accent" />
            )}
            {step}
          </li>
        ))}
      </ol>
    </details>
  )
}
