import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { type AuditEntry, auditQuery, type Verified } from '../../api/history.ts'
import { call, messageOf, request } from '../../api/http.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, Failure, Waiting } from '../../ui/empty.tsx'
import { Text } from '../../ui/form.tsx'
import { More } from '../../ui/more.tsx'
import { Page } from '../../ui/page.tsx'
import { save } from '../../ui/save.ts'
import { Table } from '../../ui/table.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import { Subject } from '../subject.tsx'

const route = getRouteApi('/shell/audit')

/** Who did what, in a chain that shows when it was tampered with. */
export function Audit() {
  const filter = route.useSearch()
  const query = useInfiniteQuery(auditQuery(filter))
  const entries = query.data
  const verify = useWrite(() => call<Verified>('/v1/audit/verify'), { stale: [] })
  const download = useWrite(() => save(request('/v1/audit/export'), 'audit.jsonl'), { stale: [] })
  return (
    <Page
      title="Audit"
      lead="Who did what. Each entry carries the hash of the one before."
      actions={
        <>
          <WriteButton write={download}>Export</WriteButton>
          <WriteButton look="primary" icon={<ShieldCheck size={14} />} write={verify}>
            Verify
          </WriteButton>
        </>
      }
    >
      {verify.data && <Verdict verified={verify.data} />}
      <Filter key={JSON.stringify(filter)} filter={filter} />
      {query.error && <Failure message={messageOf(query.error)} />}
      {query.isPending && <Waiting className="h-96" />}
      {entries?.length === 0 && <Empty title="No entry matches" />}
      {entries && entries.length > 0 && <Entries entries={entries} />}
      <More query={query} />
    </Page>
  )
}

function Verdict({ verified }: { verified: Verified }) {
  const { ok, first_bad_seq, problem } = verified
  return (
    <p role="status" className={`rounded-md px-3 py-2 ${ok ? 'bg-ok-soft text-ok' : 'bg-bad-soft text-bad'}`}>
      {ok ? whole(verified) : `The chain does not hold from entry ${first_bad_seq ?? '?'} on: ${problem}`}
    </p>
  )
}

function whole({ entries, checkpoints, sealed_from }: Verified): string {
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
      <Text label="Action" placeholder="connection.created" value={action} onChange={setAction} />
      <Text label="Subject" placeholder="an id" value={subject} onChange={setSubject} />
      <Button type="submit">Filter</Button>
    </form>
  )
}

function Entries({ entries }: { entries: AuditEntry[] }) {
  return (
    <Table label="Audit entries" head={['Number', 'When', 'Who', 'Action', 'Subject', 'Data']}>
      {entries.map(({ seq, ts, actor, action, subject, data }) => (
        <tr key={seq}>
          <td className="tabular-nums">{seq}</td>
          <td className="whitespace-nowrap text-muted tabular-nums">{ts.slice(0, 19).replace('T', ' ')}</td>
          <td className="whitespace-nowrap">
            {actor.kind} <code className="font-mono text-xs text-muted">{actor.id.slice(-8)}</code>
          </td>
          <td className="font-medium whitespace-nowrap">{action}</td>
          <td className="text-xs whitespace-nowrap">
            <Subject id={subject} />
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
