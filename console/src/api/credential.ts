/**
 * Who is signed in, and in which project. The token is a bearer: it is sent as a header and never stands in an address
 * or a log line. It lives as long as the tab, or, for who wants to stay signed in, as long as the browser's storage.
 */
const TOKEN = 'svc.token'
const PROJECT = 'svc.project'

export function getToken(): string | null {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN)
}

export function saveToken(value: string, stay: boolean): void {
  clearToken()
  const storage = stay ? localStorage : sessionStorage
  storage.setItem(TOKEN, value)
}

export function clearToken(): void {
  sessionStorage.removeItem(TOKEN)
  localStorage.removeItem(TOKEN)
}

/** Null: the only project there is, or all of them. */
export function getProject(): string | null {
  return localStorage.getItem(PROJECT)
}

export function setProject(id: string | null): void {
  if (id === null) localStorage.removeItem(PROJECT)
  else localStorage.setItem(PROJECT, id)
}

/** A write needs one project by name as soon as there are several; a choice that is gone is no choice. */
export function ensureProject(projects: { id: string }[]): void {
  if (projects.some(({ id }) => id === getProject())) return
  // Ids are time-ordered: the oldest is where the work is.
  const [oldest = null] = projects.map(({ id }) => id).sort()
  setProject(projects.length > 1 ? oldest : null)
}
