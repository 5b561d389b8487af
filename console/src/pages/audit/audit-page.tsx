import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { type AuditEntry, auditQuery, type AuditVerification } from '../../api/history-queries.ts'
import { callOperation, errorMessage, fetchResponse } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/form-fields.tsx'
import { formatNumber } from '../../ui/format.ts'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { EmptyState, ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { ShowMore } from '../../ui/show-more.tsx'
import { Table } from '../../ui/table.tsx'
import { DateTime } from '../../ui/time.tsx'
import { SubjectLink } from '../subject-link.tsx'
import { auditText } from './text.ts'

const route = getRouteApi('/shell/audit')

/** The audit log, with a check that no entry was changed or removed. */
export function AuditPage() {
  const filter = route.useSearch()
  const query = useInfiniteQuery(auditQuery(filter))
  const entries = query.data
  const verify = useApiMutation(() => callOperation('verifyAudit'), { invalidates: [] })
  const download = useApiMutation(() => saveFile(fetchResponse('/v1/audit/export'), 'audit.jsonl'), { invalidates: [] })
  return (
    <Page
      title={auditText.title}
      lead={auditText.lead}
      actions={
        <>
          <MutationButton mutation={download}>{auditText.export}</MutationButton>
          <MutationButton variant="primary" icon={<ShieldCheck size={14} />} mutation={verify}>
            {auditText.verify}
          </MutationButton>
        </>
      }
    >
      {verify.data && <VerificationResult verification={verify.data} />}
      <AuditFilter key={JSON.stringify(filter)} filter={filter} />
      {query.error && <ErrorMessage message={errorMessage(query.error)} />}
      {query.isPending && <Placeholder className="h-96" />}
      {entries?.length === 0 && <EmptyState title={auditText.noMatch} />}
      {entries && entries.length > 0 && <AuditEntries entries={entries} />}
      <ShowMore query={query} />
    </Page>
  )
}

function VerificationResult({ verification }: { verification: AuditVerification }) {
  const { ok, sealed_from, first_bad_seq, problem } = verification
  const tone = !ok ? 'bg-bad-soft text-bad' : sealed_from === 1 ? 'bg-ok-soft text-ok' : 'bg-wait-soft text-wait'
  return (
    <p role="status" className={`rounded-md px-3 py-2 ${tone}`}>
      {ok ? describeIntactChain(verification) : auditText.broken(first_bad_seq, problem)}
    </p>
  )
}

function describeIntactChain({ entries, checkpoints, sealed_from }: AuditVerification): string {
  const result = auditText.verified(entries, checkpoints.signed)
  // A chain is normally sealed from its first entry on, so only other cases are worth a sentence.
  if (sealed_from === 1) return result
  return `${result} ${sealed_from === null ? auditText.sealedWithOtherKey : auditText.notSealed(sealed_from - 1)}`
}

function AuditFilter({ filter }: { filter: { action?: string; subject?: string } }) {
  const navigate = route.useNavigate()
  const [action, setAction] = useState(filter.action ?? '')
  const [subject, setSubject] = useState(filter.subject ?? '')
  const apply = () => void navigate({ search: { ...(action && { action }), ...(subject && { subject }) } })
  return (
    <form
      className="grid items-end gap-3 sm:grid-cols-[14rem_20rem_auto] sm:justify-start"
      onSubmit={(event) => (event.preventDefault(), apply())}
    >
      <TextField label={auditText.action} placeholder={auditText.actionExample} value={action} onChange={setAction} />
      <TextField
        label={auditText.subject}
        placeholder={auditText.subjectExample}
        value={subject}
        onChange={setSubject}
      />
      <Button type="submit">{auditText.filter}</Button>
    </form>
  )
}

function AuditEntries({ entries }: { entries: AuditEntry[] }) {
  return (
    <Table label={auditText.entries} columns={auditText.columns}>
      {entries.map(({ seq, ts, actor, action, subject, data }) => (
        <tr key={seq}>
          <td className="tabular-nums">{formatNumber(seq)}</td>
          <td className="text-muted">
            <DateTime ts={ts} />
          </td>
          <td className="whitespace-nowrap">
            {actor.kind === 'system' ? (
              auditText.service
            ) : (
              <>
                {actor.kind} <code className="font-mono text-xs text-muted">{actor.id.slice(-8)}</code>
              </>
            )}
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
