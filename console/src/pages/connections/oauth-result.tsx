import type { OauthSearch } from '../../search-params.ts'
import { connectionsText } from './text.ts'

const text = connectionsText.oauth

/** What happened on the provider's page, after it sent the browser back. */
export function OauthResult({ oauth, oauth_error }: OauthSearch) {
  if (oauth === undefined && oauth_error === undefined) return null
  return oauth_error === undefined ? (
    <p role="status" className="rounded-md bg-ok-soft px-3 py-2 text-ok">
      {text.connected}
    </p>
  ) : (
    <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
      {text.errors[oauth_error] ?? text.failed} {text.again}
    </p>
  )
}
