import { useEffect, useState } from 'react'
import { applyBrand } from './brand-theme.ts'
import { ClientHome } from './client-home.tsx'
import { LanguageProvider } from './language.tsx'
import {
  currentClient,
  fetchBrand,
  type PortalBrand,
  type PortalClient,
  SESSION_ENDED,
  tokenInUrl,
} from './portal-api.ts'
import { portalPath, threadInUrl } from './portal-path.ts'
import { LinkLanding, SignedOut, type SignOutReason, UnsubscribePage } from './sign-in.tsx'

const NO_BRAND: PortalBrand = {
  address: null,
  name: null,
  color: null,
  logo_url: null,
  favicon_url: null,
  welcome: null,
  language: 'en',
  can_mail_links: false,
}

/** The client portal: signing in by a link, then the client's conversations. */
export function Portal() {
  const [client, setClient] = useState<PortalClient | null | 'loading'>('loading')
  const [brand, setBrand] = useState<PortalBrand | null>(null)
  const [token, setToken] = useState(tokenInUrl)
  const [signOut, setSignOut] = useState<SignOutReason>(null)
  const [isUnsubscribe] = useState(() => new URLSearchParams(location.search).has('unsubscribe'))
  useEffect(() => {
    void load(token).then(([found, shown]) => {
      applyBrand(shown)
      setBrand(shown)
      setClient(found)
    })
  }, [token])
  useEffect(() => {
    const end = () => {
      setSignOut('ended')
      setClient(null)
    }
    window.addEventListener(SESSION_ENDED, end)
    return () => window.removeEventListener(SESSION_ENDED, end)
  }, [])
  const open = () => {
    history.replaceState(null, '', portalPath(brand, threadInUrl()))
    setToken('')
  }
  // Empty until the brand is known, so that nothing moves or changes its colour.
  if (brand === null || client === 'loading') return <main aria-busy />
  return (
    <LanguageProvider value={brand.language}>
      {client ? (
        <ClientHome client={client} brand={brand} onSignedOut={() => (setSignOut('asked'), setClient(null))} />
      ) : isUnsubscribe && token ? (
        <UnsubscribePage brand={brand} token={token} />
      ) : token ? (
        <LinkLanding brand={brand} link={token} onOpen={open} />
      ) : (
        <SignedOut brand={brand} reason={signOut} />
      )}
    </LanguageProvider>
  )
}

/** The client of the session, unless a link has to be opened first, and the brand of its project. */
async function load(token: string): Promise<[PortalClient | null, PortalBrand]> {
  const client = token ? null : await currentClient()
  if (client) return [client, client.brand]
  const project = new URLSearchParams(location.search).get('project')
  return [null, await fetchBrand(project).catch(() => NO_BRAND)]
}
