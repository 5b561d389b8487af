import { ApiError } from '../api/request.ts'
import { Suspense, useState } from 'react'
import type { Json } from '../api/types.ts'
import { lazyPart } from '../lazy-part.ts'
import { portalErrorMessage } from './error-message.ts'
import { Alert } from './frame.tsx'
import { usePortalText } from './language.tsx'
import { answerQuestion, declineQuestion, type PortalQuestion } from './portal-api.ts'

const QuestionForm = lazyPart(() => import('../ui/question-form.tsx').then((loaded) => loaded.QuestionForm))

/** One question to the client, with the form for the answer. `onDecided` loads the questions again. */
export function QuestionCard({ question, onDecided }: { question: PortalQuestion; onDecided: () => void }) {
  const text = usePortalText()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const decide = async (send: Promise<unknown>) => {
    setBusy(true)
    setProblem(null)
    try {
      await send
      onDecided()
    } catch (error) {
      const isDecided = error instanceof ApiError && error.status === 409
      setProblem(isDecided ? text.alreadyAnswered : portalErrorMessage(error, text))
    }
    setBusy(false)
  }
  return (
    <section
      // With its text, because several may wait.
      aria-label={`${text.question}: ${question.question}`}
      className="panel flex flex-col gap-3 border-accent p-4"
    >
      <h2 className="font-semibold break-words whitespace-pre-wrap">{question.question}</h2>
      <Suspense fallback={null}>
        <QuestionForm
          id={question.id}
          question={question}
          busy={busy}
          problem={problem && <Alert>{problem}</Alert>}
          text={text.answer}
          onAnswer={(answer: Json) => void decide(answerQuestion(question.id, answer))}
          onDecline={() => void decide(declineQuestion(question.id))}
        />
      </Suspense>
    </section>
  )
}
