import type { Schemas } from '../../../api/types.ts'
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { presetsQuery, testConnection } from '../../../api/connection-queries.ts'
import { useApiMutation } from '../../../api/mutation.ts'
import type { Connection } from '../../../api/setup-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Placeholder } from '../../../ui/page-states.tsx'
import { CatalogueStep } from './catalogue-step.tsx'
import { type CatalogueEntry, entryOfConnection, findEntry } from './catalogue.ts'
import { type ConnectionDraft, DetailsStep, newDraft } from './details-step.tsx'
import { DoneStep } from './done-step.tsx'
import { saveConnection, type StoredConnection } from './save-connection.ts'
import { StepList, type StepName } from './step-parts.tsx'
import { AuthoriseStep, TestStep } from './test-step.tsx'
import { connectText } from './text.ts'

/** What the dialog starts with: a chosen entry and name, or a connection that lacks its credential. */
export interface ConnectStart {
  entryId?: string
  /** The name that a wedge or a blueprint needs. */
  name?: string
  connection?: Connection
  /** The path of the console that the provider's page sends the browser back to. */
  returnTo?: string
}

/** Waits for the presets if the start names one. */
export function ConnectDialog({ start, onClose }: { start: ConnectStart; onClose: () => void }) {
  const { data: presets, isError } = useQuery(presetsQuery)
  const title = start.name === undefined ? connectText.title : connectText.connectNamed(start.name)
  const entry = start.connection
    ? entryOfConnection(start.connection, presets ?? [])
    : findEntry(start.entryId, presets ?? [])
  const isWaiting = presets === undefined && !isError && (start.connection ?? start.entryId) !== undefined
  return (
    <Dialog label={title} onClose={onClose} className="max-w-2xl">
      {isWaiting ? (
        <Placeholder className="m-5 h-96" />
      ) : (
        <ConnectSteps title={title} start={start} firstEntry={entry} onClose={onClose} />
      )}
    </Dialog>
  )
}

function ConnectSteps({
  title,
  start,
  firstEntry,
  onClose,
}: {
  title: string
  start: ConnectStart
  firstEntry: CatalogueEntry | null
  onClose: () => void
}) {
  const flow = useConnectFlow(start, firstEntry)
  const { step, entry } = flow
  const heading = useRef<HTMLHeadingElement>(null)
  // Screen readers announce the new step; the first step has a search field, which gets the focus itself.
  useEffect(() => {
    if (step !== 'choose') heading.current?.focus()
  }, [step])
  const shownTitle = entry && start.name === undefined ? connectText.connectNamed(entry.title) : title
  return (
    <div className="relative flex max-h-[min(46rem,calc(100dvh-3rem))] flex-col gap-4 p-5">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2 pr-8">
        <h2
          ref={heading}
          // A dialog focuses its first focusable element when it opens.
          tabIndex={step === 'choose' ? undefined : -1}
          className="text-base font-semibold outline-none"
        >
          {shownTitle}
        </h2>
        <StepList step={step} skipsChoice={firstEntry !== null} />
      </header>
      <CurrentStep start={start} flow={flow} skipsChoice={firstEntry !== null} onClose={onClose} />
      {/* The last element, because a dialog focuses its first button when it opens. */}
      <Button
        small
        variant="ghost"
        className="absolute top-4 right-3"
        aria-label={connectText.close}
        onClick={onClose}
        icon={<X size={15} />}
      />
    </div>
  )
}

function CurrentStep({
  start,
  flow,
  skipsChoice,
  onClose,
}: {
  start: ConnectStart
  flow: ReturnType<typeof useConnectFlow>
  skipsChoice: boolean
  onClose: () => void
}) {
  const { step, entry, draft, connection, show } = flow
  if (step === 'choose' || !entry) return <CatalogueStep onChoose={flow.choose} />
  if (step === 'details' || !connection) {
    return (
      <DetailsStep
        entry={entry}
        saved={connection}
        draft={draft}
        nameIsFixed={start.name !== undefined || entry.isExisting}
        mutation={flow.save}
        onChange={flow.setDraft}
        onBack={skipsChoice || connection ? null : () => show('choose')}
      />
    )
  }
  const onBack = () => show('details')
  if (step === 'authorise') {
    const returnTo = start.returnTo ?? `/connections/${connection.id}`
    return <AuthoriseStep entry={entry} connection={connection} returnTo={returnTo} onBack={onBack} />
  }
  if (step === 'test') {
    return (
      <TestStep
        entry={entry}
        name={connection.name}
        warnings={connection.warnings ?? []}
        test={flow.test}
        onBack={onBack}
        onDone={() => show('done')}
      />
    )
  }
  return <DoneStep connection={connection} isTested={flow.test.data?.ok === true} onClose={onClose} />
}

const NO_DRAFT: ConnectionDraft = { name: '', values: {}, authId: '', secret: '' }

/** The state of the dialog: the entry, what was typed, the stored connection, and the result of its test. */
function useConnectFlow(start: ConnectStart, firstEntry: CatalogueEntry | null) {
  const [entry, setEntry] = useState(firstEntry)
  const [draft, setDraft] = useState(() => (firstEntry ? newDraft(firstEntry, start.name) : NO_DRAFT))
  const [step, show] = useState<StepName>(firstEntry ? 'details' : 'choose')
  const [connection, setConnection] = useState<StoredConnection | null>(start.connection ?? null)
  const invalidates = ['connections', 'blueprints']
  const test = useApiMutation<string, Schemas.ConnectionTest>(testConnection, { invalidates })
  const save = useApiMutation(async () => (entry ? saveConnection(entry, draft, connection, setConnection) : null), {
    invalidates,
    onSuccess: (saved) => {
      if (!saved) return
      setConnection(saved)
      setDraft({ ...draft, secret: '' })
      test.reset()
      show(saved.status === 'needs_authorisation' && saved.kind !== 'broker' ? 'authorise' : 'test')
      if (saved.status === 'connected') test.mutate(saved.id)
    },
  })
  const choose = (chosen: CatalogueEntry) => {
    setEntry(chosen)
    setDraft(newDraft(chosen, start.name))
    show('details')
  }
  const runTest = { ...test, mutate: () => connection && test.mutate(connection.id) }
  return { entry, draft, step, connection, test: runTest, save, setDraft, show, choose }
}
