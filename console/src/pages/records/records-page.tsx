import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { type RecordFilter, recordsQuery } from '../../api/history-queries.ts'
import { errorMessage, toCurl } from '../../api/http.ts'
import { toText } from '../../api/json.ts'
import { wedgesQuery } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { EmptyState, ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { recordsText } from './text.ts'

const route = getRouteApi('/shell/records')

/** The records of all wedges, filtered by collection and by fields of the value. */
export function RecordsPage() {
  const filter = route.useSearch()
  const query = useInfiniteQuery({ ...recordsQuery(filter), placeholderData: keepPreviousData })
  const rows = query.data
  return (
    <Page title={recordsText.title} lead={recordsText.lead}>
      <RecordFilterForm key={JSON.stringify(filter)} filter={filter} />
      {query.error && <ErrorMessage message={errorMessage(query.error)} />}
      {query.isPending && <Placeholder className="h-96" />}
      {!query.error && rows?.length === 0 && <NoRecords filtered={Object.keys(filter).length > 0} />}
      {!query.error && rows && rows.length > 0 && (
        <Table label={recordsText.title} columns={recordsText.columns}>
          {rows.map(({ id, wedge, collection, key, value, version, updated_at }) => (
            <tr key={id}>
              <td className="max-w-48 min-w-24 font-mono text-xs font-medium break-words">{key}</td>
              <td className="whitespace-nowrap">
                {collection} <span className="text-xs text-muted">{wedge}</span>
              </td>
              <td className="max-w-lg min-w-64">
                <details>
                  <summary className="truncate font-mono text-xs">{toText(value)}</summary>
                  <pre className="font-mono text-xs break-words whitespace-pre-wrap">
                    {JSON.stringify(value, null, 2)}
                  </pre>
                </details>
              </td>
              <td className="tabular-nums">{version}</td>
              <td className="text-muted">
                <TimeAgo ts={updated_at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <ShowMore query={query} />
    </Page>
  )
}

function RecordFilterForm({ filter }: { filter: RecordFilter }) {
  const navigate = route.useNavigate()
  const { data: wedges = [] } = useQuery(wedgesQuery)
  const [wedge, setWedge] = useState(filter.wedge ?? '')
  const [collection, setCollection] = useState(filter.collection ?? '')
  const [where, setWhere] = useState(filter.where ?? '')
  const apply = () =>
    void navigate({ search: { ...(wedge && { wedge }), ...(collection && { collection }), ...(where && { where }) } })
  return (
    <form
      className="grid items-end gap-3 sm:grid-cols-[12rem_12rem_1fr_auto]"
      onSubmit={(event) => (event.preventDefault(), apply())}
    >
      <Select
        label={recordsText.wedge}
        value={wedge}
        options={[['', recordsText.allWedges], ...wedges.map(({ wedge, title }): [string, string] => [wedge, title])]}
        onChange={setWedge}
      />
      <TextField label={recordsText.collection} value={collection} onChange={setCollection} />
      <TextField
        label={recordsText.conditions}
        placeholder={recordsText.conditionsExample}
        className="field h-8 font-mono"
        value={where}
        onChange={setWhere}
      />
      <Button type="submit">{recordsText.filter}</Button>
    </form>
  )
}

function NoRecords({ filtered }: { filtered: boolean }) {
  if (filtered) return <EmptyState title={recordsText.noMatch} />
  const body = { wedge: 'refund-desk', collection: 'refunds', key: 'A-1001', value: { status: 'booked' } }
  return (
    <EmptyState title={recordsText.none} curl={toCurl('saveRecord', { body })}>
      {recordsText.noneHint}
    </EmptyState>
  )
}
