import type { Schemas } from '../../../api/types.ts'
import { CircleCheck, CircleX } from 'lucide-react'
import { type PlainMutation, useApiMutation } from '../../../api/mutation.ts'
import type { Connection } from '../../../api/setup-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { capitalize } from '../../../ui/humanize.ts'
import { MutationButton } from '../../../ui/mutation-button.tsx'
import { startOauth } from '../open-authorisation.ts'
import type { CatalogueEntry } from './catalogue.ts'
import { StepButtons, StepError } from './step-parts.tsx'
import { connectText } from './text.ts'

/** Sends the person to the provider's page, in this tab: a new tab would not be signed in to the console. */
export function AuthoriseStep({
  entry,
  connection,
  returnTo,
  onBack,
}: {
  entry: CatalogueEntry
  connection: Connection
  returnTo: string
  onBack: () => void
}) {
  const start = useApiMutation(() => startOauth(connection.id, returnTo), { invalidates: [] })
  const provider = entry.preset === null ? connectText.authorise.provider : entry.title
  return (
    <>
      <p>{connectText.authorise.lead(provider)}</p>
      <StepError error={start.error} />
      <StepButtons>
        <MutationButton variant="primary" mutation={start}>
          {connectText.authorise.open(provider)}
        </MutationButton>
        <Button variant="ghost" onClick={onBack}>
          {connectText.changeDetails}
        </Button>
      </StepButtons>
    </>
  )
}

/** Shows the result of the test in words. */
export function TestStep({
  entry,
  name,
  warnings,
  test,
  onBack,
  onDone,
}: {
  entry: CatalogueEntry
  name: string
  warnings: string[]
  test: PlainMutation & { data: Schemas.ConnectionTest | undefined; error: Error | null }
  onBack: () => void
  onDone: () => void
}) {
  const result = test.isPending ? undefined : test.data
  return (
    <>
      <div role="status" className="flex min-h-16 flex-col justify-center gap-1">
        {test.isPending && <p className="text-muted">{connectText.testing}</p>}
        {!test.isPending && !result && entry.toolkit !== null && <p>{connectText.appTab}</p>}
        {result && <TestResultText name={name} result={result} />}
        {warnings.map((warning) => (
          <p key={warning} className="break-words text-wait">
            {connectText.warning(warning)}
          </p>
        ))}
      </div>
      <StepError error={test.error} />
      <StepButtons>
        {result?.ok ? (
          <Button variant="primary" onClick={onDone}>
            {connectText.next}
          </Button>
        ) : (
          <>
            <MutationButton variant="primary" mutation={test}>
              {result ? connectText.tryAgain : connectText.test}
            </MutationButton>
            <Button onClick={onBack}>
              {entry.toolkit === null ? connectText.changeDetails : connectText.openAgain}
            </Button>
            <Button variant="ghost" onClick={onDone}>
              {connectText.finishAnyway}
            </Button>
          </>
        )}
      </StepButtons>
    </>
  )
}

function TestResultText({ name, result: { ok, error, checked } }: { name: string; result: Schemas.ConnectionTest }) {
  const Icon = ok ? CircleCheck : CircleX
  return (
    <>
      <p className={`flex items-center gap-2 font-medium ${ok ? 'text-ok' : 'text-bad'}`}>
        <Icon size={18} aria-hidden />
        {ok ? connectText.testPassed(name) : connectText.testFailed(name)}
      </p>
      {!ok && <p className="break-words">{capitalize(error ?? connectText.unknownError)}</p>}
      <p className="text-xs break-words text-muted">{connectText.checked(checked)}</p>
    </>
  )
}
