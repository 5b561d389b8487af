import { createParser } from 'eventsource-parser'
import { fetchPortal, SESSION_EXPIRED } from './portal-api.ts'
import { portalText } from './text.ts'

const text = portalText.progress

/** The progress of a task, in words for the client. */
export interface TaskProgress {
  label: string
  isFinished: boolean
  /** The task ended without success, so a team member has to reply. */
  needsReply: boolean
  files: { id: string; name: string }[]
  /** The question that waits for the client; null if there is none. */
  questionId: string | null
}

interface PortalEvent {
  id: number
  type: string
  data: { text?: unknown; status?: unknown; artifact_id?: unknown; name?: unknown; question_id?: unknown }
}

const RETRY_MS = 1_500

/** Follows a task to its end, reconnects after gaps, and reports the progress after each event. */
export async function followTask(
  taskId: string,
  signal: AbortSignal,
  onProgress: (progress: TaskProgress) => void,
): Promise<void> {
  let progress: TaskProgress = {
    label: text.received,
    isFinished: false,
    needsReply: false,
    files: [],
    questionId: null,
  }
  let last = 0
  onProgress(progress)
  while (!signal.aborted && !progress.isFinished) {
    try {
      await readEvents(taskId, last, signal, (portalEvent) => {
        if (portalEvent.id <= last) return
        last = portalEvent.id
        progress = applyEvent(progress, portalEvent)
        onProgress(progress)
      })
    } catch (error) {
      if (signal.aborted || (error instanceof Error && error.message === SESSION_EXPIRED)) return
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
  const response = await fetchPortal(`/tasks/${taskId}/events`, { signal, headers })
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

function applyEvent(progress: TaskProgress, { type, data }: PortalEvent): TaskProgress {
  if (typeof data.question_id === 'string') return applyQuestion(progress, data.question_id)
  // The agent's questions to the team are not shown to the client.
  const isTeamQuestion = typeof data.text === 'string' && data.text.startsWith('Missing knowledge:')
  if (type === 'progress' && typeof data.text === 'string' && !isTeamQuestion) return { ...progress, label: data.text }
  if (isTeamQuestion || type === 'step.started' || type === 'tool.called') return { ...progress, label: text.working }
  if (type === 'task.finished') {
    const needsReply = data.status !== 'succeeded'
    return {
      ...progress,
      isFinished: true,
      needsReply,
      label: needsReply ? text.needsReply : text.done,
    }
  }
  if (type !== 'artifact.created') return progress
  return { ...progress, files: [...progress.files, { id: String(data.artifact_id), name: String(data.name) }] }
}

/** The first event of a question asks it, the second one decides it. */
function applyQuestion(progress: TaskProgress, id: string): TaskProgress {
  return progress.questionId === id
    ? { ...progress, label: text.working, questionId: null }
    : { ...progress, label: text.waiting, questionId: id }
}
