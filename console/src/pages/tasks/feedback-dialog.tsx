import { useMutation } from '@tanstack/react-query'
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import type { Task } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/form-fields.tsx'
import { showToast } from '../../ui/toast.tsx'

type Rating = 'good' | 'bad'

/** What a person says about a run; the words become knowledge of the wedge. */
export function FeedbackDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const [rating, setRating] = useState<Rating | null>(null)
  const [correction, setCorrection] = useState('')
  const [note, setNote] = useState('')
  const send = useMutation({
    mutationFn: () =>
      callApi(`/v1/tasks/${task.id}/feedback`, {
        method: 'POST',
        body: { ...(rating && { rating }), ...(correction && { correction }), ...(note && { note }) },
      }),
    onSuccess: () => {
      showToast(correction || note ? 'Recorded; the next run will know' : 'Recorded')
      onClose()
    },
  })
  return (
    <Dialog label="Feedback" onClose={onClose} className="max-w-md">
      <form className="flex flex-col gap-4 p-5" onSubmit={(event) => (event.preventDefault(), send.mutate())}>
        <h2 className="text-base font-semibold">How was this run?</h2>
        <RatingButtons rating={rating} onChange={setRating} />
        <TextArea
          label="What should it have done?"
          hint="Becomes knowledge of the wedge."
          value={correction}
          onChange={setCorrection}
        />
        <TextArea label="Note" value={note} onChange={setNote} />
        <div className="flex gap-2">
          <Button type="submit" variant="primary" disabled={send.isPending || !(rating || correction || note)}>
            Send
          </Button>
          <Button variant="ghost" onClick={onClose}>
            Not now
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function RatingButtons({ rating, onChange }: { rating: Rating | null; onChange: (rating: Rating | null) => void }) {
  const both: { value: Rating; label: string; Icon: typeof ThumbsUp }[] = [
    { value: 'good', label: 'Good', Icon: ThumbsUp },
    { value: 'bad', label: 'Not good', Icon: ThumbsDown },
  ]
  return (
    <div role="group" aria-label="Rating" className="flex gap-2">
      {both.map(({ value, label, Icon }) => (
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
