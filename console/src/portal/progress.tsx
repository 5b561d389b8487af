import { useEffect, useEffectEvent, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { save } from '../ui/save.ts'
import { followWork, type Work } from './follow.ts'
import { asked } from './session.ts'

/** How the work that a message asked for stands, live, and the files that it made. */
export function Progress({
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
  const [work, setWork] = useState<Work | null>(null)
  const ended = useEffectEvent(onEnded)
  const active = wanted || following
  useEffect(() => {
    if (!active) return undefined
    const stop = new AbortController()
    void followWork(taskId, stop.signal, (now) => {
      setWork(now)
      if (now.ended) ended()
    })
    return () => stop.abort()
  }, [active, taskId])
  if (!active) {
    return (
      <Button small look="ghost" onClick={() => setWanted(true)}>
        What came of it
      </Button>
    )
  }
  return (
    <div className="flex flex-col items-end gap-1 text-xs text-muted" data-ended={work?.ended}>
      <span className="flex items-center gap-1.5">
        {!work?.ended && <span aria-hidden className="size-1.5 animate-breathe rounded-full bg-accent" />}
        {work && !(work.needsPerson && answered) ? work.now : ' '}
      </span>
      {work?.files.map((file) => (
        <Button key={file.id} small onClick={() => void save(asked(`/artifacts/${file.id}`), file.name)}>
          Download {file.name.split('/').at(-1)}
        </Button>
      ))}
    </div>
  )
}
