import { useEffect, useEffectEvent, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { saveFile } from '../ui/save-file.ts'
import { followTask, type TaskProgress } from './follow-task.ts'
import { fetchPortal } from './portal-api.ts'

/** How the work that a message asked for stands, live, and the files that it made. */
export function TaskProgressView({
  taskId,
  following,
  answered,
  onEnded,
}: {
  taskId: string
  following: boolean
  /** Something was said to the client since they asked. */
  answered: boolean
  onEnded: () => void
}) {
  const [wanted, setWanted] = useState(following)
  const [work, setWork] = useState<TaskProgress | null>(null)
  const ended = useEffectEvent(onEnded)
  const active = wanted || following
  useEffect(() => {
    if (!active) return undefined
    const stop = new AbortController()
    void followTask(taskId, stop.signal, (now) => {
      setWork(now)
      if (now.isFinished) ended()
    })
    return () => stop.abort()
  }, [active, taskId])
  if (!active) {
    return (
      <Button small variant="ghost" onClick={() => setWanted(true)}>
        What came of it
      </Button>
    )
  }
  return (
    <div className="flex flex-col items-end gap-1 text-xs text-muted" data-ended={work?.isFinished}>
      <span className="flex items-center gap-1.5">
        {!work?.isFinished && <span aria-hidden className="size-1.5 animate-breathe rounded-full bg-accent" />}
        {work && !(work.needsReply && answered) ? work.label : ' '}
      </span>
      {work?.files.map((file) => (
        <Button key={file.id} small onClick={() => void saveFile(fetchPortal(`/artifacts/${file.id}`), file.name)}>
          Download {file.name.split('/').at(-1)}
        </Button>
      ))}
    </div>
  )
}
