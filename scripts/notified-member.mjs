/**
 * Creates a member who gets mails about approvals.
 * @param {string} url The service.
 * @param {string} key An API key of an admin.
 * @param {{ address: string, bodies: string[] }} mailApi The address of a mail API, and the bodies that it has received so far.
 * @returns {Promise<{ session: string, nextDecisionPath: () => Promise<string> }>} The path of the next mail's decision page.
 */
export async function createNotifiedMember(url, key, { address, bodies }) {
  /** @param {string} method @param {string} path @param {object} body @param {string} token */
  const call = async (method, path, body, token = key) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    /** @type {{ id: string, session_token: string }} */
    const answer = JSON.parse(await response.text())
    return answer
  }
  /** @param {RegExp} pattern */
  const findInMails = async (pattern) => {
    for (;;) {
      const found = bodies.map((body) => pattern.exec(body)?.[1]).find((text) => text !== undefined)
      if (found !== undefined) return found
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const config = { provider: 'postmark', from: 'approvals@example.com', base_url: address }
  const { id } = await call('POST', '/v1/connections', { kind: 'email', name: 'outbox', config })
  await call('POST', `/v1/connections/${id}/secret`, { value: 'server-token' })
  await call('PUT', '/v1/notifiers/mail', { connection: 'outbox' })
  const account = { email: 'kim@example.com', name: 'Kim Lee', password: 'correct horse battery' }
  const { session_token: session } = await call('POST', '/v1/auth/signup', account)
  await call('POST', '/v1/me/notifications/links', { kind: 'mail' }, session)
  const token = await findInMails(/#confirm=([\w-]+)/)
  await call('POST', '/v1/me/notifications/confirm', { token }, session)
  bodies.length = 0
  return { session, nextDecisionPath: () => findInMails(/(\/decide#[\w-]+)/) }
}
