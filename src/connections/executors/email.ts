import type { Executor } from './executor.ts'
import { postPayload } from './http.ts'

export const email: Executor = { act: postPayload }
