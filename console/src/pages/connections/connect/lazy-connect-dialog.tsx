import { Suspense } from 'react'
import { lazyDialog } from '../../../lazy-page.ts'
import type { ConnectStart } from './connect-dialog.tsx'

const LoadedDialog = lazyDialog(() => import('./connect-dialog.tsx').then(({ ConnectDialog }) => ConnectDialog))

/** The connect dialog, whose script is loaded when it first opens. */
export function ConnectDialog(props: { start: ConnectStart; onClose: () => void }) {
  return (
    <Suspense fallback={null}>
      <LoadedDialog {...props} />
    </Suspense>
  )
}
