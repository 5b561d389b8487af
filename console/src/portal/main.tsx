import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
// oxlint-disable-next-line import/no-unassigned-import
import '../app.css'
import { reloadOnPastedLink } from '../reload-on-link.ts'
import { Portal } from './portal.tsx'

reloadOnPastedLink()

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Portal />
    </StrictMode>,
  )
}
