import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { type AuditEntry, auditQuery, type AuditVerification } from '../../api/history-queries.ts'
import { callApi, errorMessage, fetchResponse } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { TextField } from '../../ui/form-fields.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { Page } from '../../ui/page.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { Table } from '../../ui/table.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { SubjectLink } from '../subject-link.tsx'

const route = getRouteApi('/shell/audit')

/** Who did what, in a chain that shows when it was tampered with. */
export function Audit() {
  const filter = route.useSearch()
  const query = useInfiniteQuery(auditQuery(filter))
  const entries = query.data
  const verify = useApiMutation(() => callApi<AuditVerification>('/v1/audit/verify'), { invalidates: [] })
  const download = useApiMutation(() => saveFile(fetchResponse('/v1/audit/export'), 'audit.jsonl'), { invalidates: [] })
  return (
    <Page
      title="Audit"
      lead="Who did what. Each entry carries the hash of the one before."
      actions={
        <>
          <MutationButton mutation={download}>Export</MutationButton>
          <MutationButton variant="primary" icon={<ShieldCheck size={14} />} mutation={verify}>
            Verify
          </MutationButton>
        </>
      }
    >
      {verify.data && <Verdict verified={verify.data} />}
      <Filter key={JSON.stringify(filter)} filter={filter} />
      {query.error && <ErrorMessage message={errorMessage(query.error)} />}
      {query.isPending && <Placeholder className="h-96" />}
      {entries?.length === 0 && <EmptyState title="No entry matches" />}
      {entries && entries.length > 0 && <Entries entries={entries} />}
      <ShowMore query={query} />
    </Page>
  )
}

function Verdict({ verified }: { verified: AuditVerification }) {
  const { ok, first_bad_seq, problem } = verified
  return (
    <p role="status" className={`rounded-md px-3 py-2 ${ok ? 'bg-ok-soft text-ok' : 'bg-bad-soft text-bad'}`}>
      {ok ? whole(verified) : `The chain does not hold from entry ${first_bad_seq ?? '?'} on: ${problem}`}
    </p>
  )
}

function whole({ entries, checkpoints, sealed_from }: AuditVerification): string {
  const signed = `${checkpoints.signed} signed ${checkpoints.signed === 1 ? 'checkpoint' : 'checkpoints'}`
  const told = `The chain is whole: ${entries.toLocaleString('en')} entries, ${signed}.`
  // Sealed from its first entry is how it should be; anything else is for the reader to explain.
  if (sealed_from === 1) return told
  return sealed_from === null
    ? `${told} Its head bears the seal of another key.`
    : `${told} It is sealed from entry ${sealed_from.toLocaleString('en')} on.`
}

function Filter({ filter }: { filter: { action?: string; subject?: string } }) {
  const navigate = route.useNavigate()
  const [action, setAction] = useState(filter.action ?? '')
  const [subject, setSubject] = useState(filter.subject ?? '')
  const apply = () => void navigate({ search: { ...(action && { action }), ...(subject && { subject }) } })
  return (
    <form
      className="grid items-end gap-3 sm:grid-cols-[14rem_20rem_auto] sm:justify-start"
      onSubmit={(event) => (event.preventDefault(), apply())}
    >
      <TextField label="Action" placeholder="connection.created" value={action} onChange={setAction} />
      <TextField label="Subject" placeholder="an id" value={subject} onChange={setSubject} />
      <Button type="submit">Filter</Button>
    </form>
  )
}

function Entries({ entries }: { entries: AuditEntry[] }) {
  return (
    <Table label="Audit entries" columns={['Number', 'When', 'Who', 'Action', 'Subject', 'Data']}>
      {entries.map(({ seq, ts, actor, action, subject, data }) => (
        <tr key={seq}>
          <td className="tabular-nums">{seq}</td>
          <td className="whitespace-nowrap text-muted tabular-nums">{ts.slice(0, 19).replace('T', ' ')}</td>
          <td className="whitespace-nowrap">
            {actor.kind} <code className="font-mono text-xs text-muted">{actor.id.slice(-8)}</code>
          </td>
          <td className="font-medium whitespace-nowrap">{action}</td>
          <td className="text-xs whitespace-nowrap">
            <SubjectLink id={subject} />
          </td>
          <td className="w-full max-w-64 min-w-32 font-mono text-xs text-muted">
            <details>
              <summary className="truncate">{JSON.stringify(data)}</summary>
              <pre className="break-words whitespace-pre-wrap">{JSON.stringify(data, null, 2)}</pre>
            </details>
          </td>
        </tr>
      ))}
    </Table>
  )
}
