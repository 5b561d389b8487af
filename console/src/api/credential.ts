/**
 * The token of the signed-in member or key, and the selected project. The token is sent in a header only and never put
 * into a URL by the console. It lives as long as the tab, or in the browser's storage when the member chose to stay signed in.
 */
const TOKEN = 'svc.token'
const PROJECT = 'svc.project'

export function getToken(): string | null {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN)
}

/** Whether the member chose to stay signed in on this device. */
export const isTokenKept = (): boolean => localStorage.getItem(TOKEN) !== null

export function saveToken(value: string, staySignedIn: boolean): void {
  clearToken()
  const storage = staySignedIn ? localStorage : sessionStorage
  storage.setItem(TOKEN, value)
}

/**
 * Signs in with the key of the link that the first start of the service prints, and removes the key from the URL. A
 * browser that is signed in stays with its own credential.
 */
export function signInWithLink(): void {
  const key = /^#key=([\w-]+)$/.exec(location.hash)?.[1]
  if (key === undefined) return
  if (getToken() === null) saveToken(key, false)
  history.replaceState(null, '', location.pathname + location.search)
}

export function clearToken(): void {
  sessionStorage.removeItem(TOKEN)
  localStorage.removeItem(TOKEN)
}

/** Null while there is only one project. */
export function getProject(): string | null {
  return localStorage.getItem(PROJECT)
}

export function setProject(id: string | null): void {
  if (id === null) localStorage.removeItem(PROJECT)
  else localStorage.setItem(PROJECT, id)
}

/** Writes must name a project as soon as there are several, so a missing or deleted selection falls back to the oldest. */
export function ensureProject(projects: { id: string }[]): void {
  if (projects.some(({ id }) => id === getProject())) return
  // Ids are time-ordered.
  const [oldest = null] = projects.map(({ id }) => id).sort()
  setProject(projects.length > 1 ? oldest : null)
}
