import { LANGUAGES } from '../../../client-text/languages.ts'
import { z } from 'zod'
import type { Config } from '../../platform/config/config.ts'
import { serviceUrl } from '../../platform/config/service-url.ts'
import type { Brand } from './rows.ts'

const imageUrl = z
  .string()
  .nullable()
  .meta({ description: 'The path of the image on this server; null: there is none.' })

export const BrandView = z
  .object({
    project_id: z.string(),
    name: z.string().nullable(),
    color: z.string().nullable(),
    logo_file_id: z.string().nullable(),
    favicon_file_id: z.string().nullable(),
    logo_url: imageUrl,
    favicon_url: imageUrl,
    welcome: z.string().nullable(),
    language: z.enum(LANGUAGES),
    portal_channel_id: z.string().nullable().meta({
      description: 'The channel of the conversations that clients begin in the portal; null: they cannot begin any.',
    }),
    mail_connection_id: z
      .string()
      .nullable()
      .meta({ description: 'The email connection that sends sign-in links and notices.' }),
    notify: z.boolean().meta({ description: 'Whether clients get a mail about answers that they have not read.' }),
    portal_url: z.string().meta({ description: 'The address of the portal for clients of this project.' }),
  })
  .meta({ id: 'Brand' })

export const PublicBrandView = z
  .object({
    address: z.string().nullable().meta({ description: 'The name of the project in public addresses.' }),
    name: z.string().nullable(),
    color: z.string().nullable(),
    logo_url: imageUrl,
    favicon_url: imageUrl,
    welcome: z.string().nullable(),
    language: z.enum(LANGUAGES),
    can_mail_links: z.boolean().meta({ description: 'Whether clients can ask for a sign-in link by mail.' }),
  })
  .meta({ id: 'PublicBrand' })

/** `address` is the name of the project in public addresses. */
export function toBrandView(config: Config, brand: Brand, address: string) {
  const { project_id, name, color, logo_file_id, favicon_file_id, welcome, language } = brand
  const { portal_channel_id, mail_connection_id, notify_since } = brand
  return {
    project_id,
    name,
    color,
    logo_file_id,
    favicon_file_id,
    ...imageUrls(brand, address),
    welcome,
    language,
    portal_channel_id,
    mail_connection_id,
    notify: notify_since !== null,
    portal_url: portalUrl(config, address),
  }
}

export function toPublicBrandView(brand: Brand, address: string | null) {
  const { name, color, welcome, language, mail_connection_id } = brand
  const urls = imageUrls(brand, address ?? '')
  return { address, name, color, ...urls, welcome, language, can_mail_links: mail_connection_id !== null }
}

/** The id of the file is in the URL, so that browsers fetch a new image at once and keep an old one. */
function imageUrls({ logo_file_id, favicon_file_id }: Brand, address: string) {
  const url = (kind: string, id: string | null) =>
    id && `/v1/portal/brand/${kind}?project=${encodeURIComponent(address)}&file=${encodeURIComponent(id)}`
  return { logo_url: url('logo', logo_file_id), favicon_url: url('favicon', favicon_file_id) }
}

/** The address of the portal, or of a page in it. A token belongs into the fragment, which browsers do not send. */
export function portalUrl(config: Config, address: string, { thread, token }: PortalPage = {}): string {
  const search = new URLSearchParams({ project: address, ...(thread && { thread }) })
  return serviceUrl(config, `/portal?${search.toString()}${token ? `#${token}` : ''}`)
}

interface PortalPage {
  thread?: string | undefined
  token?: string
}
