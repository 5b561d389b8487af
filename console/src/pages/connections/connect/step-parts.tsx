import type { ReactNode } from 'react'
import { errorMessage } from '../../../api/http.ts'
import { ErrorMessage } from '../../../ui/page-states.tsx'
import { connectText } from './text.ts'

export type StepName = 'choose' | 'details' | 'authorise' | 'test' | 'done'

const STEPS = ['choose', 'details', 'test', 'done'] as const

/** Where the dialog is. Authorising at the provider belongs to the details. */
export function StepList({ step, skipsChoice }: { step: StepName; skipsChoice: boolean }) {
  const current = step === 'authorise' ? 'details' : step
  const shown = STEPS.filter((name) => name !== 'choose' || !skipsChoice)
  return (
    <ol aria-label={connectText.steps} className="flex items-center gap-1.5 text-xs text-muted sm:ml-auto">
      {shown.map((name, at) => (
        <li key={name} aria-current={name === current ? 'step' : undefined} className="flex items-center gap-1.5">
          {at > 0 && <span aria-hidden>›</span>}
          <span className={name === current ? 'font-medium text-accent' : ''}>{connectText.stepNames[name]}</span>
        </li>
      ))}
    </ol>
  )
}

/** The reason why a step failed. A toast would be behind the dialog on a phone. */
export function StepError({ error }: { error: Error | null }) {
  return error && <ErrorMessage message={errorMessage(error)} />
}

export function StepButtons({ children }: { children: ReactNode }) {
  return <div className="-mx-5 -mb-5 flex flex-wrap gap-2 border-t border-line px-5 py-3">{children}</div>
}
