import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { intakeQuery, type IntakeQuestion } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/form-fields.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Section } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole, RoleHint, useHasRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { showToast } from '../../ui/toast.tsx'
import { wedgesText } from './text.ts'

/** Questions that the wedge needs answered. An answer is saved as knowledge. */
export function IntakeView({ wedge }: { wedge: string }) {
  const query = useQuery(intakeQuery(wedge))
  const canAnswer = useHasRole()('operator')
  return (
    <QueryResult query={query}>
      {({ coverage, questions }) => {
        const open = questions.filter(({ status }) => status === 'open')
        const closed = questions.filter(({ status }) => status !== 'open')
        return (
          <div className="flex max-w-3xl flex-col gap-6">
            <div className="panel flex items-center gap-4 p-4">
              <progress aria-label={wedgesText.coverage} max={100} value={coverage} className="coverage h-2 flex-1" />
              <span className="font-medium tabular-nums">{wedgesText.answered(coverage / 100)}</span>
            </div>
            <Section title={open.length === 0 ? wedgesText.noOpenQuestions : wedgesText.openQuestions}>
              {open.length > 0 && !canAnswer && <RoleHint>{wedgesText.answerHint}</RoleHint>}
              {open.map((question) => (
                <RequireRole key={question.id} minRole="operator" fallback={<ReadOnlyQuestion question={question} />}>
                  <OpenQuestion wedge={wedge} question={question} />
                </RequireRole>
              ))}
            </Section>
            {closed.length > 0 && (
              <Section title={wedgesText.closedQuestions}>
                <ul className="panel divide-y divide-line">
                  {closed.map(({ id, question, answer, status }) => (
                    <li key={id} className="px-4 py-3">
                      <p className="font-medium">{question}</p>
                      <p className="text-muted">{answer ?? wedgesText.questionStatus[status]}</p>
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

function OpenQuestion({ wedge, question }: { wedge: string; question: IntakeQuestion }) {
  const { id, question: label, why } = question
  const [answer, setAnswer] = useState('')
  const send = useApiMutation(() => callOperation('answerIntakeQuestion', { wedge, question: id, body: { answer } }), {
    invalidates: ['wedges'],
    onSuccess: () => showToast(wedgesText.saved),
  })
  const dismiss = useApiMutation(() => callOperation('dismissIntakeQuestion', { wedge, question: id }), {
    invalidates: ['wedges'],
  })
  return (
    <form className="panel flex flex-col gap-2 p-4" onSubmit={(event) => (event.preventDefault(), send.mutate())}>
      <TextArea label={label} hint={why} rows={2} value={answer} onChange={setAnswer} />
      <div className="flex items-center gap-2">
        <Button small type="submit" variant="primary" disabled={answer.trim() === '' || send.isPending}>
          {wedgesText.answer}
        </Button>
        <MutationButton small variant="ghost" mutation={dismiss}>
          {wedgesText.dismiss}
        </MutationButton>
        <NeedCount question={question} />
      </div>
    </form>
  )
}

function ReadOnlyQuestion({ question }: { question: IntakeQuestion }) {
  return (
    <div className="panel flex flex-col gap-1 p-4">
      <p className="font-medium">{question.question}</p>
      <p className="text-xs text-muted">{question.why}</p>
      <span>
        <NeedCount question={question} />
      </span>
    </div>
  )
}

function NeedCount({ question: { kind, asked } }: { question: IntakeQuestion }) {
  return kind === 'gap' && <Tag tone="wait">{wedgesText.neededBy(asked)}</Tag>
}
