import type { BrokerAuthorisation } from '../../api/setup-queries.ts'
import { callOperation } from '../../api/http.ts'
import { showToast } from '../../ui/toast.tsx'
import { connectionsText } from './text.ts'

/** Opens the provider's page without `window.opener`, so that it cannot navigate the console. */
export function openAuthorisation({ redirect_url }: Pick<BrokerAuthorisation, 'redirect_url'>): void {
  if (!redirect_url || !/^https?:/.test(redirect_url)) return showToast(connectionsText.noAuthorisationPage, true)
  window.open(redirect_url, '_blank', 'noopener')
  showToast(connectionsText.authoriseInNewTab)
}

/** Leaves for the provider's page, which sends the browser back to `returnTo` of the console. */
export async function startOauth(connectionId: string, returnTo: string): Promise<void> {
  const body = { return_to: returnTo }
  const { authorize_url } = await callOperation('startConnectionOauth', { id: connectionId, body })
  if (!/^https?:/.test(authorize_url)) throw new Error(connectionsText.noAuthorisationPage)
  location.assign(authorize_url)
}
