import { useState } from 'react'
import type { Json } from '../api/types.ts'
import { QuestionForm } from '../ui/question-form.tsx'
import { answerQuestion, declineQuestion, type PortalQuestion } from './portal-api.ts'
import { portalErrorMessage } from './error-message.ts'
import { portalText } from './text.ts'

/** One question to the client, with the form for the answer. `onDecided` loads the questions again. */
export function QuestionCard({ question, onDecided }: { question: PortalQuestion; onDecided: () => void }) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const decide = async (send: Promise<unknown>) => {
    setBusy(true)
    setProblem(null)
    try {
      await send
      onDecided()
    } catch (error) {
      setProblem(portalErrorMessage(error))
    }
    setBusy(false)
  }
  return (
    <section aria-label={portalText.question} className="panel flex flex-col gap-3 border-accent p-4">
      <h2 className="font-semibold break-words whitespace-pre-wrap">{question.question}</h2>
      <QuestionForm
        question={question}
        busy={busy}
        problem={
          problem && (
            <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
              {problem}
            </p>
          )
        }
        onAnswer={(answer: Json) => void decide(answerQuestion(question.id, answer))}
        onDecline={() => void decide(declineQuestion(question.id))}
      />
    </section>
  )
}
