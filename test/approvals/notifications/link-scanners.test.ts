import { expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { readAllRows } from '../../server/planes/all-rows.ts'
import { ask } from './chat-app.ts'
import { openPeopleApp, type PeopleApp, waitForMessages } from './deciding-people.ts'

const PUBLIC_URL = 'https://desk.example'

anyStore((store) => {
  test('a program that fetches every address in every notification changes nothing', async () => {
    const app = await openPeopleApp(store, 1)
    const { approval } = await ask(app, 'payout', { text: 'hello' })
    await waitForMessages(app, approval)
    const addresses = listAddresses(app)
    expect(addresses.filter((address) => !address.startsWith(PUBLIC_URL))).toEqual([])
    const paths = new Set(addresses.map((address) => new URL(address).pathname))
    expect([...paths].map((path) => path.replace(/task_\w+/, ':id')).toSorted()).toEqual([
      '/decide',
      '/settings',
      '/tasks/:id',
    ])
    const before = await readAllRows(app)
    for (const address of addresses) {
      for (const method of ['GET', 'HEAD']) expect(await scan(app, method, address)).toBe(200)
      const token = new URL(address).hash.slice(1)
      if (!token.startsWith('dl_')) continue
      // A program that runs the scripts of the page reads the request with the token.
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        await app.call(method, '/v1/decide', undefined, { key: token, headers: { origin: PUBLIC_URL } })
    }
    expect(await readAllRows(app)).toEqual(before)
  })
})

/** Every address in the mails, in the messages of Slack and in those of Telegram, as text, HTML or a button. */
function listAddresses({ outside, slack, telegram }: PeopleApp): string[] {
  const sent = [...outside.received, ...slack.provider.received, ...telegram.provider.received]
  const texts = sent.map(({ body }) => (body.startsWith('{') ? body : JSON.stringify([...new URLSearchParams(body)])))
  const found = texts.flatMap((text) => text.match(/https?:\/\/[^\s"<>\\)|]+/g) ?? [])
  return [...new Set(found.map((address) => address.replaceAll('&amp;', '&')))]
}

const MAX_REDIRECTS = 5

/** The status at the end of all redirects. */
async function scan(app: PeopleApp, method: string, address: string): Promise<number> {
  let url = new URL(address)
  for (let n = 0; n <= MAX_REDIRECTS; n++) {
    const headers = { accept: 'text/html,*/*' }
    const response = await fetch(`${app.url}${url.pathname}${url.search}`, { method, headers, redirect: 'manual' })
    await response.arrayBuffer()
    const location = response.headers.get('location')
    if (location === null) return response.status
    url = new URL(location, url)
  }
  throw new Error(`too many redirects from ${address}`)
}
