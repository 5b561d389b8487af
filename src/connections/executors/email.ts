import type { ConnectionExecutor } from './executor.ts'
import { postPayload, addSender } from './http-request.ts'

export const emailExecutor: ConnectionExecutor = { act: postPayload, completePayload: addSender }
