import type { Task } from './openapi.ts'

/** The service refused a request. The message is the sentence of the service. */
export class ServiceError extends Error {
  readonly status: number
  /** The whole body of the response, which may have more fields than `error`. */
  readonly body: unknown
  /** Seconds after which the service asks to try again, or null. */
  readonly retryAfterS: number | null
  /** The id of the request in the log of the service. */
  readonly requestId: string | null

  constructor(message: string, { status, body, retryAfterS, requestId }: Refusal) {
    super(message)
    this.name = new.target.name
    this.status = status
    this.body = body
    this.retryAfterS = retryAfterS
    this.requestId = requestId
  }
}

export interface Refusal {
  status: number
  body: unknown
  retryAfterS: number | null
  requestId: string | null
}

/** 400: a parameter or a field is missing or wrong. */
export class BadRequestError extends ServiceError {}
/** 401: the credential is missing, wrong or revoked. */
export class UnauthorizedError extends ServiceError {}
/** 403: the role of the credential does not allow this. In the sandbox: the approval was rejected or has expired. */
export class ForbiddenError extends ServiceError {}
/** 404: it does not exist, or it is outside of what the credential reaches. */
export class NotFoundError extends ServiceError {}
/** 409: the request conflicts with the current state, for example a second decision. */
export class ConflictError extends ServiceError {}
/** 429: a limit was reached. */
export class TooManyRequestsError extends ServiceError {}
/** 502, 503 and 504: the service, or a proxy before it, cannot respond now. */
export class UnavailableError extends ServiceError {}

/** There was no response: the service cannot be reached, or the connection was lost. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

/** A task of `run` ended with another status than `succeeded`. */
export class TaskNotSucceededError extends Error {
  override readonly name = 'TaskNotSucceededError'
  readonly task: Task

  constructor(task: Task) {
    super(`task ${task.id} ended as ${task.status}${task.error ? `: ${task.error.message}` : ''}`)
    this.task = task
  }
}

/** A webhook call was not signed with this secret, or is too old. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError'
}
