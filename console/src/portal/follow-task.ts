import { createParser } from 'eventsource-parser'
import { fetchPortal, isSessionExpired } from './portal-api.ts'
import { applyEvent, noProgress, type PortalEvent, type TaskProgress } from './task-steps.ts'
import type { PortalText } from '../../../client-text/en.ts'

const RETRY_MS = 1_500

/** Follows a task to its end, reconnects after gaps, and reports the progress after each event. */
export async function followTask(
  taskId: string,
  text: PortalText,
  signal: AbortSignal,
  onProgress: (progress: TaskProgress) => void,
): Promise<void> {
  let progress = noProgress
  let last = 0
  onProgress(progress)
  while (!signal.aborted && !progress.isFinished) {
    try {
      await readEvents(taskId, last, signal, (portalEvent) => {
        if (portalEvent.id <= last) return
        last = portalEvent.id
        progress = applyEvent(progress, portalEvent, text)
        onProgress(progress)
      })
    } catch (error) {
      if (signal.aborted || isSessionExpired(error)) return
    }
    if (!progress.isFinished) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

async function readEvents(
  taskId: string,
  last: number,
  signal: AbortSignal,
  onPortalEvent: (portalEvent: PortalEvent) => void,
) {
  const headers = { accept: 'text/event-stream', ...(last > 0 && { 'last-event-id': String(last) }) }
  const response = await fetchPortal(`/v1/portal/tasks/${taskId}/events`, { signal, headers })
  const parser = createParser({
    onEvent({ event, data }) {
      // By the API contract each frame carries a whole event.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      if (event !== 'error') onPortalEvent(JSON.parse(data) as PortalEvent)
    },
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) parser.feed(piece.value)
}
