import type { JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Connection } from '../connection/rows.ts'
import { mailgunProvider } from './mailgun.ts'
import type { MailProvider } from './mail-provider.ts'
import { postmarkProvider } from './postmark.ts'
import { resendProvider } from './resend.ts'
import { sendgridProvider } from './sendgrid.ts'
import { smtpProvider } from './smtp.ts'

const PROVIDERS = {
  smtp: smtpProvider,
  postmark: postmarkProvider,
  mailgun: mailgunProvider,
  sendgrid: sendgridProvider,
  resend: resendProvider,
} satisfies Record<string, MailProvider>

/** The provider in the connection's config; null if the config has none and names an `api_url` instead. */
export function findMailProvider({ config: { provider } }: Pick<Connection, 'config'>): MailProvider | null {
  if (provider === undefined) return null
  const known = findByName(provider)
  if (!known) throw badRequest(`field 'config.provider' must be one of ${Object.keys(PROVIDERS).join(', ')}`)
  return known
}

/** The config keys that the provider needs and that are not set. */
export function findMissingMailConfig(config: JsonObject): string[] {
  const required = findByName(config.provider)?.requiredConfig
  const keys = required ? ['from', ...required] : [config.provider === undefined ? 'api_url' : 'provider']
  return keys.filter((key) => !config[key])
}

function findByName(name: unknown): MailProvider | null {
  return Object.entries(PROVIDERS).find(([known]) => known === name)?.[1] ?? null
}
