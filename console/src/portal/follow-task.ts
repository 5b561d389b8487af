import { createParser } from 'eventsource-parser'
import { fetchPortal, isSessionExpired } from './portal-api.ts'
import type { PortalText } from './text/en.ts'

/** The progress of a task, in words for the client. */
export interface TaskProgress {
  /** What was done so far, in plain words, oldest first. The last one is in progress. */
  steps: string[]
  isFinished: boolean
  /** The task ended without success, so a team member has to reply. */
  needsReply: boolean
  files: { id: string; name: string }[]
  /** The question that waits for the client; null if there is none. */
  questionId: string | null
}

export interface PortalEvent {
  id: number
  type: string
  data: {
    text?: unknown
    status?: unknown
    artifact_id?: unknown
    name?: unknown
    question_id?: unknown
    tool?: unknown
  }
}

const RETRY_MS = 1_500

export const noProgress: TaskProgress = { steps: [], isFinished: false, needsReply: false, files: [], questionId: null }

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

export function applyEvent(progress: TaskProgress, { type, data }: PortalEvent, text: PortalText): TaskProgress {
  if (typeof data.question_id === 'string') return applyQuestion(progress, data.question_id, text)
  if (type === 'task.finished') return { ...progress, isFinished: true, needsReply: data.status !== 'succeeded' }
  if (type === 'artifact.created')
    return { ...progress, files: [...progress.files, { id: String(data.artifact_id), name: String(data.name) }] }
  const step = stepOf(type, data, text)
  return step === null ? progress : addStep(progress, step)
}

/** The first event of a question asks it, the second one decides it. */
function applyQuestion(progress: TaskProgress, id: string, text: PortalText): TaskProgress {
  return progress.questionId === id
    ? { ...addStep(progress, text.progress.working), questionId: null }
    : { ...addStep(progress, text.progress.waiting), questionId: id }
}

const addStep = (progress: TaskProgress, step: string): TaskProgress =>
  progress.steps.at(-1) === step ? progress : { ...progress, steps: [...progress.steps, step] }

/** An event in words for the client; null for one that says nothing new. */
function stepOf(type: string, { text: words, tool }: PortalEvent['data'], text: PortalText): string | null {
  // The agent's questions to the team are not shown to the client.
  if (type === 'progress' && typeof words === 'string')
    return words.startsWith('Missing knowledge:') ? text.progress.working : words
  if (type === 'tool.called' && typeof tool === 'string') return toolStep(tool, text)
  if (type === 'output.validated') return text.progress.checking
  return type === 'step.started' ? text.progress.working : null
}

/** The names of tools mean nothing to a client, so each kind of tool has a sentence. */
const TOOL_WORDS: [RegExp, 'lookingUp' | 'readingFiles' | 'writingFile' | 'calculating'][] = [
  [/^(?:file_read|read_file|list_files)$/, 'readingFiles'],
  [/^(?:write_file|file_attach)$/, 'writingFile'],
  [/^(?:records_|case_|read$|http_get|knowledge)/, 'lookingUp'],
  [/^(?:workflow|run_command|bash)/, 'calculating'],
]

function toolStep(tool: string, { progress }: PortalText): string {
  const found = TOOL_WORDS.find(([pattern]) => pattern.test(tool))
  return found ? progress[found[1]] : progress.acting
}
