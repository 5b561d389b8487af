import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { presetsQuery } from '../../../api/connection-queries.ts'
import { errorMessage } from '../../../api/http.ts'
import { metaQuery } from '../../../api/queries.ts'
import { toolkitsQuery } from '../../../api/setup-queries.ts'
import { TextField } from '../../../ui/form-fields.tsx'
import { ErrorMessage, Placeholder } from '../../../ui/page-states.tsx'
import { type CatalogueEntry, type EntryGroup, initialsOf, listEntries, matchesSearch } from './catalogue.ts'
import { connectText } from './text.ts'

const GROUPS: EntryGroup[] = ['services', 'mail', 'other', 'apps']

/** Everything that can be connected, in one searchable list. */
export function CatalogueStep({ onChoose }: { onChoose: (entry: CatalogueEntry) => void }) {
  const [search, setSearch] = useState('')
  const { entries, isPending, error } = useEntries(useDeferredValue(search))
  const found = entries.filter((entry) => matchesSearch(entry, search.trim()))
  return (
    <>
      <TextField
        label={connectText.search}
        placeholder={connectText.searchHint}
        type="search"
        autoFocus
        value={search}
        onChange={setSearch}
      />
      <p role="status" className="sr-only">
        {isPending ? '' : connectText.results(found.length)}
      </p>
      {error && <ErrorMessage message={errorMessage(error)} />}
      <div className="-mx-5 flex min-h-0 flex-col gap-4 overflow-y-auto px-5 pb-1">
        {isPending ? (
          <Placeholder className="h-96" />
        ) : (
          GROUPS.map((group) => (
            <EntryGroupList
              key={group}
              title={connectText.groups[group]}
              entries={found.filter((entry) => entry.group === group)}
              onChoose={onChoose}
            />
          ))
        )}
        {!isPending && found.length === 0 && <p className="text-muted">{connectText.noResults}</p>}
      </div>
    </>
  )
}

/** Without a broker its apps are not offered. */
function useEntries(search: string) {
  const presets = useQuery(presetsQuery)
  const { data: meta } = useQuery(metaQuery)
  const toolkits = useQuery({ ...toolkitsQuery(search), enabled: meta?.broker.configured === true })
  return {
    entries: listEntries(presets.data ?? [], toolkits.data ?? []),
    isPending: presets.isPending || meta === undefined,
    error: presets.error ?? toolkits.error,
  }
}

function EntryGroupList({
  title,
  entries,
  onChoose,
}: {
  title: string
  entries: CatalogueEntry[]
  onChoose: (entry: CatalogueEntry) => void
}) {
  if (entries.length === 0) return null
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h3 className="text-xs font-medium text-muted">{title}</h3>
      <ul className="grid gap-2 sm:grid-cols-2">
        {entries.map((entry) => (
          <li key={entry.id} className="min-w-0">
            <button
              type="button"
              onClick={() => onChoose(entry)}
              className="flex w-full items-center gap-3 rounded-md border border-line p-2.5 text-left hover:border-line-strong hover:bg-hover"
            >
              <Initials title={entry.title} />
              <span className="min-w-0">
                <span className="block truncate font-medium">{entry.title}</span>
                <span className="block truncate text-xs text-muted">{entry.description}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function Initials({ title }: { title: string }) {
  return (
    <span
      aria-hidden
      className="flex size-9 shrink-0 items-center justify-center rounded-md bg-off-soft text-xs font-semibold"
    >
      {initialsOf(title)}
    </span>
  )
}
