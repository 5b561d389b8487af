import { toObject, toText } from '../../api/json.ts'
import type { Approval, Json } from '../../api/types.ts'
import { FieldList } from '../../ui/json.tsx'
import { type AskedQuestion, QuestionForm } from '../../ui/question-form.tsx'
import { approvalsText } from './text.ts'
import type { SendDecision } from './use-decision.ts'

const text = approvalsText.question

/** Answers or declines a question. */
export function QuestionDecision({
  approval,
  send: { decide, isPending },
}: {
  approval: Approval
  send: SendDecision
}) {
  return (
    <QuestionForm
      id={approval.approval_id}
      question={askedQuestion(approval)}
      busy={isPending}
      onAnswer={(answer) => decide({ to: 'approve', body: { edited: { answer } } })}
      onDecline={() => decide({ to: 'reject', body: {} })}
    />
  )
}

/** A question that is decided, or that the reader may not answer. */
export function QuestionView({ approval }: { approval: Approval }) {
  const { options } = askedQuestion(approval)
  const answer = approval.edited?.['answer']
  return (
    <div className="flex flex-col gap-3">
      {options && <FieldList value={{ [text.options]: options }} />}
      {answer !== undefined && <Answer value={answer} />}
    </div>
  )
}

function Answer({ value }: { value: Json }) {
  return (
    <section aria-label={text.answer} className="flex flex-col gap-1">
      <h3 className="font-medium">{text.answer}</h3>
      {typeof value === 'object' && value !== null ? (
        <FieldList value={value} />
      ) : (
        <p className="break-words whitespace-pre-wrap">{toText(value)}</p>
      )}
    </section>
  )
}

export function askedQuestion({ preview }: Pick<Approval, 'preview'>): AskedQuestion {
  const { question = '', schema = null, options = null } = toObject(preview)
  return {
    question: toText(question),
    schema: schema === null ? null : toObject(schema),
    options: Array.isArray(options) ? options.map(toText) : null,
  }
}
