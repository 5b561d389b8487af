import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { call } from '../../api/http.ts'
import { type Authorisation, type Toolkit, toolkitsQuery } from '../../api/setup.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Text } from '../../ui/form.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { toast } from '../../ui/toast.tsx'
import { WriteButton } from '../../ui/write-button.tsx'

/** An app through the broker: chosen here, authorised on the provider's own page. */
export function BrokerDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const query = useQuery(toolkitsQuery(useDeferredValue(text)))
  return (
    <Dialog label="Connect an app" onClose={onClose} className="max-w-lg">
      <div className="flex max-h-[70dvh] flex-col gap-3 p-5">
        <h2 className="text-base font-semibold">Connect an app</h2>
        <Text label="Find" value={text} onChange={setText} />
        <Loaded query={query}>
          {(toolkits) => (
            <ul className="overflow-y-auto">
              {toolkits.length === 0 && <li className="py-2 text-muted">The broker has no such app.</li>}
              {toolkits.map((toolkit) => (
                <ToolkitLine key={toolkit.slug} toolkit={toolkit} onClose={onClose} />
              ))}
            </ul>
          )}
        </Loaded>
        <Button look="ghost" className="self-start" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}

function ToolkitLine({ toolkit, onClose }: { toolkit: Toolkit; onClose: () => void }) {
  const connect = useWrite(
    () => call<Authorisation>(`/v1/broker/toolkits/${toolkit.slug}/connect`, { method: 'POST', body: {} }),
    {
      stale: ['connections'],
      onDone: (begun) => {
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
      <WriteButton small className="ml-auto" write={connect}>
        Connect<span className="sr-only"> {toolkit.name}</span>
      </WriteButton>
    </li>
  )
}

/** The provider's page gets no hold on this one. */
export function openAuthorisation({ redirect_url }: Authorisation): void {
  if (!redirect_url || !/^https?:/.test(redirect_url)) return toast('The broker gave no page to open', true)
  window.open(redirect_url, '_blank', 'noopener')
  toast('Authorise on the page that opened, then press Test')
}
