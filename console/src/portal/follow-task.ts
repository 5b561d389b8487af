import { createParser } from 'eventsource-parser'
import { fetchPortal } from './portal-api.ts'

/** How a piece of work stands, in words for who asked for it. */
export interface TaskProgress {
  label: string
  isFinished: boolean
  /** It ended without having done what was asked. */
  needsReply: boolean
  files: { id: string; name: string }[]
}

interface PortalEvent {
  id: number
  type: string
  data: { text?: unknown; status?: unknown; artifact_id?: unknown; name?: unknown }
}

const RETRY_MS = 1_500

/** Follows one task to its end, over gaps, and tells after each event how the work stands. */
export async function followTask(
  taskId: string,
  signal: AbortSignal,
  onWork: (work: TaskProgress) => void,
): Promise<void> {
  let work: TaskProgress = { label: 'Received', isFinished: false, needsReply: false, files: [] }
  let last = 0
  onWork(work)
  while (!signal.aborted && !work.isFinished) {
    try {
      await readEvents(taskId, last, signal, (told) => {
        if (told.id <= last) return
        last = told.id
        work = applyEvent(work, told)
        onWork(work)
      })
    } catch (error) {
      if (signal.aborted || (error instanceof Error && error.message === 'expired')) return
    }
    if (!work.isFinished) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

async function readEvents(taskId: string, last: number, signal: AbortSignal, onTold: (told: PortalEvent) => void) {
  const headers = { accept: 'text/event-stream', ...(last > 0 && { 'last-event-id': String(last) }) }
  const response = await fetchPortal(`/tasks/${taskId}/events`, { signal, headers })
  const parser = createParser({
    onEvent({ event, data }) {
      // Each frame carries a whole event, as the contract says.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      if (event !== 'error') onTold(JSON.parse(data) as PortalEvent)
    },
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) parser.feed(piece.value)
}

function applyEvent(work: TaskProgress, { type, data }: PortalEvent): TaskProgress {
  // What the agent does not know it asks those who run this, and their client is not told what.
  const asks = typeof data.text === 'string' && data.text.startsWith('Missing knowledge:')
  if (type === 'progress' && typeof data.text === 'string' && !asks) return { ...work, label: data.text }
  if (asks || type === 'step.started' || type === 'tool.called') return { ...work, label: 'Working on it' }
  if (type === 'task.finished') {
    const needsReply = data.status !== 'succeeded'
    return {
      ...work,
      isFinished: true,
      needsReply,
      label: needsReply ? 'This needs a person; we will get back' : 'Done',
    }
  }
  if (type !== 'artifact.created') return work
  return { ...work, files: [...work.files, { id: String(data.artifact_id), name: String(data.name) }] }
}
