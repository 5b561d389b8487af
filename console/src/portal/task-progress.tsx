import { useEffect, useEffectEvent, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { saveFile } from '../ui/save-file.ts'
import { followTask, type TaskProgress } from './follow-task.ts'
import { fetchPortal } from './portal-api.ts'
import { portalText } from './text.ts'

/** The live progress of a message's task, and its files. */
export function TaskProgressView({
  taskId,
  following,
  hasReply,
  onChanged,
}: {
  taskId: string
  following: boolean
  /** The client got a reply after the message. */
  hasReply: boolean
  /** The task has ended, or asks the client something else. */
  onChanged: () => void
}) {
  const [isOpen, setIsOpen] = useState(following)
  const [progress, setProgress] = useState<TaskProgress | null>(null)
  const changed = useEffectEvent(onChanged)
  const isActive = isOpen || following
  useEffect(() => {
    if (!isActive) return undefined
    const stop = new AbortController()
    let questionId: string | null = null
    void followTask(taskId, stop.signal, (update) => {
      setProgress(update)
      if (update.isFinished || update.questionId !== questionId) changed()
      questionId = update.questionId
    })
    return () => stop.abort()
  }, [isActive, taskId])
  if (!isActive) {
    return (
      <Button small variant="ghost" onClick={() => setIsOpen(true)}>
        {portalText.showResult}
      </Button>
    )
  }
  return (
    <div className="flex flex-col items-end gap-1 text-xs text-muted" data-ended={progress?.isFinished}>
      <span className="flex items-center gap-1.5">
        {!progress?.isFinished && <span aria-hidden className="size-1.5 animate-breathe rounded-full bg-accent" />}
        {progress && !(progress.needsReply && hasReply) ? progress.label : ' '}
      </span>
      {progress?.files.map((file) => (
        <Button key={file.id} small onClick={() => void saveFile(fetchPortal(`/artifacts/${file.id}`), file.name)}>
          {portalText.download(file.name.split('/').at(-1) ?? file.name)}
        </Button>
      ))}
    </div>
  )
}
