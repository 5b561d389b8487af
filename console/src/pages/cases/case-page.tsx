import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Case, caseQuery } from '../../api/case-queries.ts'
import { threadQuery } from '../../api/conversation-queries.ts'
import { errorMessage } from '../../api/http.ts'
import { newestTasksQuery, wedgesQuery } from '../../api/queries.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextField } from '../../ui/form-fields.tsx'
import { ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { ThreadTasks } from '../conversations/thread-tasks.tsx'
import { TaskLines } from '../tasks/task-lines.tsx'
import { CaseFacts } from './case-facts.tsx'
import { CaseHistory } from './case-history.tsx'
import { caseName } from './case-name.ts'
import { CaseTaskForm } from './case-task-form.tsx'
import { casesText } from './text.ts'
import { useChangeCase } from './use-change-case.ts'

const route = getRouteApi('/shell/cases/$caseId')

/** One case: what happened, its tasks, and the facts. */
export function CasePage() {
  const { caseId } = route.useParams()
  const { data: found, error } = useQuery(caseQuery(caseId))
  return (
    <Page
      title={found ? caseName(found) : casesText.case}
      lead={<code className="font-mono text-xs break-all">{caseId}</code>}
      actions={
        found && (
          <>
            <Link to="/cases" search={{ wedge: found.wedge }} className={buttonClass()}>
              {casesText.allCases}
            </Link>
            <RequireRole minRole="operator">
              <CaseActions found={found} />
            </RequireRole>
          </>
        )
      }
    >
      {found ? (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
          <div className="flex min-w-0 flex-col gap-4 max-lg:order-last">
            <CaseHistory found={found} />
            <CaseTasks caseId={caseId} />
            {found.thread_id && <ConversationTasks threadId={found.thread_id} />}
          </div>
          <CaseFacts found={found} />
        </div>
      ) : error ? (
        <ErrorMessage message={errorMessage(error)} />
      ) : (
        <Placeholder className="h-96" />
      )}
    </Page>
  )
}

function CaseActions({ found }: { found: Case }) {
  const [open, setOpen] = useState<'rename' | 'task' | null>(null)
  const { data: wedges } = useQuery(wedgesQuery)
  const wedge = wedges?.find((one) => one.wedge === found.wedge)
  const change = useChangeCase()
  const close = () => setOpen(null)
  return (
    <>
      <Button onClick={() => setOpen('rename')}>{casesText.rename}</Button>
      <Button
        disabled={change.isPending}
        onClick={() => change.mutate({ id: found.id, status: found.status === 'open' ? 'closed' : 'open' })}
      >
        {found.status === 'open' ? casesText.close : casesText.reopen}
      </Button>
      {found.status === 'open' && (
        <Button variant="primary" disabled={!wedge} onClick={() => setOpen('task')}>
          {casesText.runTask}
        </Button>
      )}
      {open === 'rename' && <RenameForm found={found} onClose={close} />}
      {open === 'task' && wedge && <CaseTaskForm caseId={found.id} wedge={wedge} onClose={close} />}
    </>
  )
}

function RenameForm({ found, onClose }: { found: Case; onClose: () => void }) {
  const [title, setTitle] = useState(found.title ?? '')
  const change = useChangeCase()
  const save = () => change.mutate({ id: found.id, title }, { onSuccess: onClose })
  return (
    <FormDialog
      title={casesText.rename}
      submitLabel={casesText.save}
      canSubmit={title.trim() !== ''}
      mutation={{ isPending: change.isPending, mutate: save }}
      onClose={onClose}
    >
      <TextField label={casesText.titleLabel} value={title} onChange={setTitle} />
    </FormDialog>
  )
}

function CaseTasks({ caseId }: { caseId: string }) {
  const { data: tasks } = useQuery(newestTasksQuery({ case_id: caseId }))
  return (
    <Section title={casesText.taskList}>
      <div className="panel min-h-11 overflow-hidden">
        {tasks?.length === 0 && <p className="p-4 text-muted">{casesText.noTasks}</p>}
        <TaskLines tasks={tasks ?? []} label={casesText.taskList} />
      </div>
    </Section>
  )
}

/** The tasks that the client's messages started. They belong to the conversation, not to the case. */
function ConversationTasks({ threadId }: { threadId: string }) {
  const { data: thread } = useQuery(threadQuery(threadId))
  if (!thread || thread.tasks.length === 0) return null
  return (
    <Section title={casesText.conversationTasks}>
      <div className="panel p-4">
        <ThreadTasks tasks={thread.tasks} />
      </div>
    </Section>
  )
}
