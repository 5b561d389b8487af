import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { type BrokerAuthorisation, type BrokerToolkit, toolkitsQuery } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form-fields.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { showToast } from '../../ui/toast.tsx'
import { connectionsText } from './text.ts'

/** Connects an app through the broker: chosen here, authorised on the provider's own page. */
export function ConnectAppDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const query = useQuery(toolkitsQuery(useDeferredValue(text)))
  return (
    <Dialog label={connectionsText.connectApp} onClose={onClose} className="max-w-lg">
      <div className="flex max-h-[70dvh] flex-col gap-3 p-5">
        <h2 className="text-base font-semibold">{connectionsText.connectApp}</h2>
        <TextField label={connectionsText.searchApps} value={text} onChange={setText} />
        <QueryResult query={query}>
          {(toolkits) => (
            <ul className="overflow-y-auto">
              {toolkits.length === 0 && <li className="py-2 text-muted">{connectionsText.noApps}</li>}
              {toolkits.map((toolkit) => (
                <ToolkitRow key={toolkit.slug} toolkit={toolkit} onClose={onClose} />
              ))}
            </ul>
          )}
        </QueryResult>
        <Button variant="ghost" className="self-start" onClick={onClose}>
          {connectionsText.close}
        </Button>
      </div>
    </Dialog>
  )
}

function ToolkitRow({ toolkit, onClose }: { toolkit: BrokerToolkit; onClose: () => void }) {
  const connect = useApiMutation(
    () => callApi<BrokerAuthorisation>(`/v1/broker/toolkits/${toolkit.slug}/connect`, { method: 'POST', body: {} }),
    {
      invalidates: ['connections'],
      onSuccess: (authorisation) => {
        openAuthorisation(authorisation)
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
        {connectionsText.connect}
        <span className="sr-only"> {toolkit.name}</span>
      </MutationButton>
    </li>
  )
}

/** Opens the provider's page without `window.opener`, so that it cannot navigate the console. */
export function openAuthorisation({ redirect_url }: Pick<BrokerAuthorisation, 'redirect_url'>): void {
  if (!redirect_url || !/^https?:/.test(redirect_url)) return showToast(connectionsText.noAuthorisationPage, true)
  window.open(redirect_url, '_blank', 'noopener')
  showToast(connectionsText.authoriseInNewTab)
}
