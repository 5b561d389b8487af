import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/http.ts'
import { intakeQuery, type Question } from '../../api/setup.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Area } from '../../ui/form.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { May, OthersDo, useMay } from '../../ui/may.tsx'
import { Tag } from '../../ui/status.tsx'
import { Section } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { WriteButton } from '../../ui/write-button.tsx'

/** What the wedge would like to know; an answer becomes knowledge. */
export function IntakeView({ wedge }: { wedge: string }) {
  const query = useQuery(intakeQuery(wedge))
  const mayAnswer = useMay()('operator')
  return (
    <Loaded query={query}>
      {({ coverage, questions }) => {
        const open = questions.filter(({ status }) => status === 'open')
        const closed = questions.filter(({ status }) => status !== 'open')
        return (
          <div className="flex max-w-3xl flex-col gap-6">
            <div className="panel flex items-center gap-4 p-4">
              <progress aria-label="Coverage" max={100} value={coverage} className="coverage h-2 flex-1" />
              <span className="font-medium tabular-nums">{Math.round(coverage)} % known</span>
            </div>
            <Section title={open.length === 0 ? 'No open question' : 'Open questions'}>
              {open.length > 0 && !mayAnswer && <OthersDo>operators answer</OthersDo>}
              {open.map((question) => (
                <May key={question.id} least="operator" otherwise={<ToRead question={question} />}>
                  <OpenQuestion wedge={wedge} question={question} />
                </May>
              ))}
            </Section>
            {closed.length > 0 && (
              <Section title="Answered and dismissed">
                <ul className="panel divide-y divide-line">
                  {closed.map(({ id, question, answer, status }) => (
                    <li key={id} className="px-4 py-3">
                      <p className="font-medium">{question}</p>
                      <p className="text-muted">{answer ?? status}</p>
                    </li>
                  ))}
                </ul>
              </Section>
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

function OpenQuestion({ wedge, question: asked }: { wedge: string; question: Question }) {
  const { id, question, why } = asked
  const [answer, setAnswer] = useState('')
  const path = `/v1/wedges/${wedge}/intake/${id}`
  const send = useWrite(() => call(path, { method: 'POST', body: { answer } }), {
    stale: ['wedges'],
    onDone: () => toast('Answered; the next run will know'),
  })
  const dismiss = useWrite(() => call(`${path}/dismiss`, { method: 'POST' }), { stale: ['wedges'] })
  return (
    <form className="panel flex flex-col gap-2 p-4" onSubmit={(event) => (event.preventDefault(), send.mutate())}>
      <Area label={question} hint={why} rows={2} value={answer} onChange={setAnswer} />
      <div className="flex items-center gap-2">
        <Button small type="submit" look="primary" disabled={answer.trim() === '' || send.isPending}>
          Answer
        </Button>
        <WriteButton small look="ghost" write={dismiss}>
          Dismiss
        </WriteButton>
        <Missed question={asked} />
      </div>
    </form>
  )
}

function ToRead({ question }: { question: Question }) {
  return (
    <div className="panel flex flex-col gap-1 p-4">
      <p className="font-medium">{question.question}</p>
      <p className="text-xs text-muted">{question.why}</p>
      <span>
        <Missed question={question} />
      </span>
    </div>
  )
}

function Missed({ question: { kind, asked } }: { question: Question }) {
  return kind === 'gap' && <Tag tone="wait">{`missed ${asked} ${asked === 1 ? 'time' : 'times'}`}</Tag>
}
