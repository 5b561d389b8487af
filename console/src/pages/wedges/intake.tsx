import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { intakeQuery, type IntakeQuestion } from '../../api/setup-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/form-fields.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole, RoleHint, useHasRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { Section } from '../../ui/page.tsx'
import { showToast } from '../../ui/toast.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'

/** What the wedge would like to know; an answer becomes knowledge. */
export function IntakeView({ wedge }: { wedge: string }) {
  const query = useQuery(intakeQuery(wedge))
  const mayAnswer = useHasRole()('operator')
  return (
    <QueryResult query={query}>
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
              {open.length > 0 && !mayAnswer && <RoleHint>Ask an operator to answer.</RoleHint>}
              {open.map((question) => (
                <RequireRole key={question.id} minRole="operator" fallback={<ToRead question={question} />}>
                  <OpenQuestion wedge={wedge} question={question} />
                </RequireRole>
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
    </QueryResult>
  )
}

function OpenQuestion({ wedge, question: asked }: { wedge: string; question: IntakeQuestion }) {
  const { id, question, why } = asked
  const [answer, setAnswer] = useState('')
  const path = `/v1/wedges/${wedge}/intake/${id}`
  const send = useApiMutation(() => callApi(path, { method: 'POST', body: { answer } }), {
    invalidates: ['wedges'],
    onSuccess: () => showToast('Answered; the next run will know'),
  })
  const dismiss = useApiMutation(() => callApi(`${path}/dismiss`, { method: 'POST' }), { invalidates: ['wedges'] })
  return (
    <form className="panel flex flex-col gap-2 p-4" onSubmit={(event) => (event.preventDefault(), send.mutate())}>
      <TextArea label={question} hint={why} rows={2} value={answer} onChange={setAnswer} />
      <div className="flex items-center gap-2">
        <Button small type="submit" variant="primary" disabled={answer.trim() === '' || send.isPending}>
          Answer
        </Button>
        <MutationButton small variant="ghost" mutation={dismiss}>
          Dismiss
        </MutationButton>
        <Missed question={asked} />
      </div>
    </form>
  )
}

function ToRead({ question }: { question: IntakeQuestion }) {
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

function Missed({ question: { kind, asked } }: { question: IntakeQuestion }) {
  return kind === 'gap' && <Tag tone="wait">{`missed ${asked} ${asked === 1 ? 'time' : 'times'}`}</Tag>
}
