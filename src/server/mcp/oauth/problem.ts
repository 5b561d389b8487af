import { Problem } from '../../../platform/base/problem.ts'

/** An error in the form of RFC 6749 and RFC 7591: `{error: "invalid_grant", error_description: "…"}`. */
export const oauthProblem = (error: string, description: string): Problem =>
  new Problem(400, error, { extra: { error_description: description }, headers: NO_STORE })

/** Responses of the token endpoint must not stay in a cache. */
export const NO_STORE = { 'cache-control': 'no-store' }
