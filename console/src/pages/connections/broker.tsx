import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { callApi } from '../../api/http.ts'
import { type BrokerAuthorisation, type BrokerToolkit, toolkitsQuery } from '../../api/setup-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form-fields.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { showToast } from '../../ui/toast.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'

/** An app through the broker: chosen here, authorised on the provider's own page. */
export function BrokerDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const query = useQuery(toolkitsQuery(useDeferredValue(text)))
  return (
    <Dialog label="Connect an app" onClose={onClose} className="max-w-lg">
      <div className="flex max-h-[70dvh] flex-col gap-3 p-5">
        <h2 className="text-base font-semibold">Connect an app</h2>
        <TextField label="Find" value={text} onChange={setText} />
        <QueryResult query={query}>
          {(toolkits) => (
            <ul className="overflow-y-auto">
              {toolkits.length === 0 && <li className="py-2 text-muted">The broker has no such app.</li>}
              {toolkits.map((toolkit) => (
                <ToolkitLine key={toolkit.slug} toolkit={toolkit} onClose={onClose} />
              ))}
            </ul>
          )}
        </QueryResult>
        <Button variant="ghost" className="self-start" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}

function ToolkitLine({ toolkit, onClose }: { toolkit: BrokerToolkit; onClose: () => void }) {
  const connect = useApiMutation(
    () => callApi<BrokerAuthorisation>(`/v1/broker/toolkits/${toolkit.slug}/connect`, { method: 'POST', body: {} }),
    {
      invalidates: ['connections'],
      onSuccess: (begun) => {
        openAuthorisation(begun)
        onClose()
      },
    },
  )
  return (
    <li className="flex items-center gap-3 border-b border-line py-2 last:border-0">
      <div className="min-w-0">
        <p className="font-medium">{toolkit.name}</p>
        <p className="truncate text-xs text-muted">{toolkit.description}</p>
      </div>
      <MutationButton small className="ml-auto" mutation={connect}>
        Connect<span className="sr-only"> {toolkit.name}</span>
      </MutationButton>
    </li>
  )
}

/** The provider's page gets no hold on this one. */
export function openAuthorisation({ redirect_url }: BrokerAuthorisation): void {
  if (!redirect_url || !/^https?:/.test(redirect_url)) return showToast('The broker gave no page to open', true)
  window.open(redirect_url, '_blank', 'noopener')
  showToast('Authorise on the page that opened, then press Test')
}
