import { ArrowLeft } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/form-fields.tsx'
import { Composer } from './composer.tsx'
import { useDraft } from './drafts.ts'
import { portalErrorMessage } from './error-message.ts'
import { usePortalText } from './language.tsx'
import { type NewMessage, startConversation } from './portal-api.ts'

/** The key of the draft. */
const DRAFT = 'new'

/** The form that begins a conversation. */
export function NewConversation({
  maxFileBytes,
  onBack,
  onStarted,
}: {
  maxFileBytes: number
  onBack: () => void
  onStarted: (id: string) => void
}) {
  const text = usePortalText()
  const [{ subject }, change] = useDraft(DRAFT)
  const setSubject = (typed: string) => change((draft) => ({ ...draft, subject: typed }))
  const start = async (message: NewMessage) => {
    try {
      const { id } = await startConversation({ ...message, subject })
      setSubject('')
      onStarted(id)
      return null
    } catch (error) {
      return portalErrorMessage(error, text)
    }
  }
  return (
    <section aria-label={text.newConversation} className="flex min-w-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
      <header className="flex items-center gap-2 border-b border-line pb-3">
        <Button variant="ghost" className="h-11 md:hidden" onClick={onBack} aria-label={text.allConversations}>
          <ArrowLeft size={18} aria-hidden />
        </Button>
        <h1 className="text-lg font-semibold">{text.newConversation}</h1>
      </header>
      <TextField
        label={`${text.subject} (${text.optional})`}
        maxLength={200}
        className="field h-11 text-[1rem]"
        value={subject}
        onChange={setSubject}
      />
      <Composer draft={DRAFT} rows={6} maxFileBytes={maxFileBytes} onSend={start} />
    </section>
  )
}
