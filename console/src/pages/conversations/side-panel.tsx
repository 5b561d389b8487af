import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { clientCasesQuery } from '../../api/case-queries.ts'
import { clientQuery } from '../../api/client-queries.ts'
import { clientThreadsQuery, type Thread } from '../../api/conversation-queries.ts'
import { Button } from '../../ui/button.tsx'
import { clientName } from '../../ui/client-name.ts'
import { humanize } from '../../ui/humanize.ts'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { caseName } from '../cases/case-name.ts'
import { FileList } from '../files/file-list.tsx'
import { NewCaseForm } from './new-case-form.tsx'
import { ThreadTasks } from './thread-tasks.tsx'
import { conversationsText } from './text.ts'

const text = conversationsText.side

/** The client, the case, the tasks, the files and the other conversations of the client. */
export function SidePanel({ thread }: { thread: Thread }) {
  const files = thread.messages.flatMap((message) => message.files)
  return (
    <aside aria-label={text.label} className="flex flex-col divide-y divide-line">
      <ClientFacts thread={thread} />
      <CaseOfThread thread={thread} />
      <PanelSection title={text.tasks}>
        {thread.tasks.length === 0 && <p className="text-muted">{text.noTasks}</p>}
        <ThreadTasks tasks={thread.tasks} />
      </PanelSection>
      <PanelSection title={text.files}>
        {files.length === 0 ? <p className="text-muted">{text.noFiles}</p> : <FileList files={files} />}
      </PanelSection>
      <OtherConversations thread={thread} />
    </aside>
  )
}

function PanelSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2 p-4">
      <h3 className="text-xs font-semibold text-muted">{title}</h3>
      {children}
    </section>
  )
}

function ClientFacts({ thread: { client_id, client_name } }: { thread: Thread }) {
  const { data: client } = useQuery(clientQuery(client_id))
  return (
    <PanelSection title={text.client}>
      <Link to="/clients/$clientId" params={{ clientId: client_id }} className="text-accent underline">
        {clientName(client_name)}
      </Link>
      {client && <p className="break-words text-muted">{client.handles.map(clientName).join(', ')}</p>}
      {client?.last_activity_at && (
        <p className="text-xs text-muted">
          {text.lastActivity} <TimeAgo ts={client.last_activity_at} />
        </p>
      )}
    </PanelSection>
  )
}

/** The case about this conversation; without one, a button that opens a case. */
function CaseOfThread({ thread }: { thread: Thread }) {
  const { data: cases } = useQuery(clientCasesQuery(thread.client_id))
  const [open, setOpen] = useState(false)
  const ofThread = cases?.filter(({ thread_id }) => thread_id === thread.id) ?? []
  return (
    <PanelSection title={text.case}>
      {ofThread.map((found) => (
        <p key={found.id} className="flex items-center gap-2">
          <Link to="/cases/$caseId" params={{ caseId: found.id }} className="min-w-0 truncate text-accent underline">
            {caseName(found)}
          </Link>
          <span className="ml-auto">
            <Tag>{humanize(found.stage)}</Tag>
          </span>
        </p>
      ))}
      {cases && ofThread.length === 0 && (
        <RequireRole minRole="operator" fallback={<p className="text-muted">{text.noCase}</p>}>
          <Button small className="self-start" onClick={() => setOpen(true)}>
            {text.openCase}
          </Button>
        </RequireRole>
      )}
      {open && <NewCaseForm thread={thread} onClose={() => setOpen(false)} />}
    </PanelSection>
  )
}

function OtherConversations({ thread: { id, client_id } }: { thread: Thread }) {
  const { data: threads = [] } = useQuery(clientThreadsQuery(client_id))
  const others = threads.filter((one) => one.id !== id)
  return (
    <PanelSection title={text.others}>
      {others.length === 0 && <p className="text-muted">{text.noOthers}</p>}
      <ul className="flex flex-col gap-1.5">
        {others.map((other) => (
          <li key={other.id} className="flex items-center gap-2">
            <Link
              to="/conversations/$threadId"
              params={{ threadId: other.id }}
              className="min-w-0 truncate text-accent underline"
            >
              {other.subject || other.last_message?.body || conversationsText.noSubject}
            </Link>
            <span className="ml-auto text-xs text-muted">
              <TimeAgo ts={other.updated_at} />
            </span>
          </li>
        ))}
      </ul>
    </PanelSection>
  )
}
