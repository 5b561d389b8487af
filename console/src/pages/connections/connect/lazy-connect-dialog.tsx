import { Suspense } from 'react'
import { lazyPart } from '../../../lazy-part.ts'
import type { ConnectStart } from './connect-dialog.tsx'

const LoadedDialog = lazyPart(() => import('./connect-dialog.tsx').then(({ ConnectDialog }) => ConnectDialog))

/** The connect dialog, whose script is loaded when it first opens. */
export function ConnectDialog(props: { start: ConnectStart; onClose: () => void }) {
  return (
    <Suspense fallback={null}>
      <LoadedDialog {...props} />
    </Suspense>
  )
}
