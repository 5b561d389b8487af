import { useMutation } from '@tanstack/react-query'
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import type { Task } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/form-fields.tsx'
import { uiText } from '../../ui/text.ts'
import { showToast } from '../../ui/toast.tsx'
import { tasksText } from './text.ts'

const text = tasksText.feedback

type Rating = 'good' | 'bad'

/** Feedback on a run; corrections and notes become knowledge of the wedge. */
export function FeedbackDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const [rating, setRating] = useState<Rating | null>(null)
  const [correction, setCorrection] = useState('')
  const [note, setNote] = useState('')
  const send = useMutation({
    mutationFn: () =>
      callOperation('createTaskFeedback', {
        id: task.id,
        body: { ...(rating && { rating }), ...(correction && { correction }), ...(note && { note }) },
      }),
    onSuccess: () => {
      showToast(correction || note ? text.savedForNextRun : text.saved)
      onClose()
    },
  })
  return (
    <Dialog label={text.title} onClose={onClose} className="max-w-md">
      <form className="flex flex-col gap-4 p-5" onSubmit={(event) => (event.preventDefault(), send.mutate())}>
        <h2 className="text-base font-semibold">{text.question}</h2>
        <RatingButtons rating={rating} onChange={setRating} />
        <TextArea label={text.correction} hint={text.correctionHint} value={correction} onChange={setCorrection} />
        <TextArea label={text.note} value={note} onChange={setNote} />
        <div className="flex gap-2">
          <Button type="submit" variant="primary" disabled={send.isPending || !(rating || correction || note)}>
            {text.send}
          </Button>
          <Button variant="ghost" onClick={onClose}>
            {uiText.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function RatingButtons({ rating, onChange }: { rating: Rating | null; onChange: (rating: Rating | null) => void }) {
  const ratings: { value: Rating; label: string; Icon: typeof ThumbsUp }[] = [
    { value: 'good', label: text.good, Icon: ThumbsUp },
    { value: 'bad', label: text.bad, Icon: ThumbsDown },
  ]
  return (
    <div role="group" aria-label={text.rating} className="flex gap-2">
      {ratings.map(({ value, label, Icon }) => (
        <Button
          key={value}
          aria-pressed={rating === value}
          onClick={() => onChange(rating === value ? null : value)}
          className="aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
          icon={<Icon size={14} />}
        >
          {label}
        </Button>
      ))}
    </div>
  )
}
