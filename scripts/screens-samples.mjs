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
    const request = { method, headers, body: JSON.stringify(body) }
    const response = await fetch(url + path, request)
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

/**
 * Approves the next reply to a client.
 * @param {string} url
 * @param {string} key
 */
export async function approveReply(url, key) {
  const headers = { authorization: `Bearer ${key}` }
  for (;;) {
    const response = await fetch(`${url}/v1/approvals?status=pending`, { headers })
    /** @type {{ data: { approval_id: string, action: string }[] }} */
    const { data } = JSON.parse(await response.text())
    const reply = data.find(({ action }) => action.endsWith(':reply'))
    if (reply) return fetch(`${url}/v1/approvals/${reply.approval_id}/approve`, { method: 'POST', headers })
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/**
 * Sends the message of a customer to the channel with this address.
 * @param {string} url
 * @param {string} key
 * @param {string} address
 */
export async function sendCustomerMessage(url, key, address) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  /** @type {{ data: { id: string, address: string }[] }} */
  const { data } = JSON.parse(await (await fetch(`${url}/v1/channels`, { headers })).text())
  const id = data.find((channel) => channel.address === address)?.id
  const from = { handle: 'grace@example.com', name: 'Grace' }
  const message = { from, subject: 'Error in the export', body: 'The CSV export ends with an error since Monday.' }
  await fetch(`${url}/v1/channels/${id}/inbound`, { method: 'POST', headers, body: JSON.stringify(message) })
}
