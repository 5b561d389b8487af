/**
 * The token of the signed-in member or key, and the selected project. The token is sent in a header only and never put
 * into a URL. It lives as long as the tab, or in the browser's storage when the member chose to stay signed in.
 */
const TOKEN = 'svc.token'
const PROJECT = 'svc.project'

export function getToken(): string | null {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN)
}

export function saveToken(value: string, staySignedIn: boolean): void {
  clearToken()
  const storage = staySignedIn ? localStorage : sessionStorage
  storage.setItem(TOKEN, value)
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
