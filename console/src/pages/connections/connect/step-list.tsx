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
        <li
          key={name}
          aria-current={name === current ? 'step' : undefined}
          className="flex items-center gap-1.5 aria-[current=step]:font-medium aria-[current=step]:text-accent"
        >
          {at > 0 && <span aria-hidden>›</span>}
          {connectText.stepNames[name]}
        </li>
      ))}
    </ol>
  )
}
