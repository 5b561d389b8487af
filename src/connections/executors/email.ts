import type { Executor } from './executor.ts'
import { postPayload, withSender } from './http.ts'

export const email: Executor = { act: postPayload, whole: withSender }
