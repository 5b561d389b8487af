import { expect, test } from 'vitest'
import { Problem } from '../../../../src/platform/base/problem.ts'
import type { ChannelAdapter } from '../../../../src/customers/channels/adapters/adapter.ts'
import { CHANNEL_ADAPTERS } from '../../../../src/customers/channels/adapters/adapter-table.ts'
import { openAdapterTest } from './adapter-fixtures.ts'

const HOOKS = Object.entries(CHANNEL_ADAPTERS).filter(([, { hook }]) => hook)

/** The headers that prove a call of any provider. */
const HEADERS = [
  'authorization',
  'content-type',
  'origin',
  'svix-id',
  'svix-signature',
  'svix-timestamp',
  'x-slack-request-timestamp',
  'x-slack-signature',
  'x-telegram-bot-api-secret-token',
  'x-twilio-signature',
]

const VALUES: (now: number) => (string | string[] | undefined)[] = (now) => [
  undefined,
  '',
  ' ',
  'a'.repeat(16_000),
  'ü€\0\u{1f600}',
  ['a', 'b'],
  String(now),
  '-1',
  '1e9',
  '9'.repeat(400),
  'NaN',
  'Basic',
  `Basic ${'='.repeat(8_000)}`,
  'Basic Og==',
  'v0=',
  'v1,'.repeat(5_000),
  'v1, '.repeat(4_000),
  'null',
  'multipart/form-data; boundary=',
  `multipart/form-data; boundary=${'"'.repeat(8_000)}`,
  `application/x-www-form-urlencoded; ${'charset='.repeat(1_000)}`,
]

/** Nothing, the smallest body of each form, and one that only looks like a form. */
const BODIES = ['', '{}', 'timestamp=1&token=a&signature=', '--b\r\n\r\n']

async function refuses({ adapter, secret }: { adapter: ChannelAdapter; secret: string | null }): Promise<void> {
  const { ctx, hook, call } = await openAdapterTest(adapter)
  const now = Math.floor(ctx.world.clock.now() / 1000)
  const verify = async (headers: Record<string, unknown>, body: string) => {
    const made = call(body, headers as Record<string, string>, { secret })
    await hook.verifyHead(ctx, made)
    await hook.verifyBody?.(ctx, made)
  }
  for (const value of VALUES(now)) {
    // The times are right in half of the calls, so that what comes behind them is judged too.
    for (const time of [value, String(now)]) {
      const all = Object.fromEntries(HEADERS.map((name) => [name, name.endsWith('timestamp') ? time : value]))
      for (const body of BODIES) {
        const refusal = await verify(all, body).then(
          () => 'accepted',
          (error: unknown) => (error instanceof Problem ? error.status : error),
        )
        expect([value, body, refusal]).toEqual([value, body, expect.toBeOneOf([400, 401, 403])])
      }
    }
  }
}

test.each(HOOKS)('%s: no header that the provider did not make is accepted or is a failure', async (_, adapter) => {
  await refuses({ adapter, secret: 'a-secret' })
  await refuses({ adapter, secret: null })
})
