import { z } from 'zod'
import { notFound } from '../../platform/base/problem.ts'
import { readFile } from '../../work/files/storage.ts'
import { findFile } from '../../work/files/rows.ts'
import { bytesResponse, defineProjectRead, defineWrite, nameRoutes, openRoute } from '../../platform/http/route.ts'
import { BrandInput, changeBrand } from './brand.ts'
import { findPublicBrand, projectAddress } from './public-brand.ts'
import { findBrand } from './rows.ts'
import { BrandView, PublicBrandView, toBrandView, toPublicBrandView } from './view.ts'

export const brandRoutes = nameRoutes({
  getBrand: defineProjectRead('/v1/brand', {
    summary: 'Read the brand of the project',
    description:
      'What the team has set, including what clients never see, such as the connection that sends the mails. Pages for clients read `GET /v1/portal/brand` instead.',
    responses: { 200: BrandView },
    async handle({ ctx, scope: { projectId } }) {
      return toBrandView(ctx.config, await findBrand(ctx.db, projectId), await projectAddress(ctx.db, projectId))
    },
  }),

  updateBrand: defineWrite('PUT', '/v1/brand', {
    summary: 'Set what clients see of the project',
    description: 'Fields that are left out keep their value; null clears one.',
    role: 'admin',
    body: BrandInput,
    responses: { 200: BrandView },
    async handle({ ctx, scope, body }) {
      return toBrandView(ctx.config, await changeBrand(ctx, scope, body), await projectAddress(ctx.db, scope.projectId))
    },
  }),
})

const projectParam = z.string().min(1).max(100).optional().meta({ description: 'The slug or the id of the project.' })

/** `file` is not read: it makes the URL change with the image, so that browsers do not show an old one. */
function serveImage(kind: string, field: 'logo_file_id' | 'favicon_file_id') {
  return openRoute('GET', `/v1/portal/brand/${kind}`, {
    summary: `Read the ${kind} that clients see`,
    description: `The image itself, for pages that show the brand. 404 if the project has no ${kind}. \`file\` is not read: give it the id of the image, so that no browser shows an earlier one.`,
    query: z.object({ project: projectParam, file: z.string().max(100).optional() }),
    responses: { 200: 'image/*' },
    async handle({ ctx, query }) {
      const { brand } = await findPublicBrand(ctx, query.project)
      const id = brand[field]
      const file = id === null ? undefined : await findFile(ctx.db, [brand.project_id], id)
      if (!file) throw notFound(kind)
      return bytesResponse(await readWhole(readFile(ctx, file)), imageHeaders(file.content_type))
    },
  })
}

async function readWhole(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** An SVG image may contain scripts: they run neither in an `img` element nor, because of the sandbox, on their own. */
const imageHeaders = (contentType: string) => ({
  'content-type': contentType,
  'content-disposition': 'inline',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'public, max-age=300',
})

/** Needs no session: the sign-in page of the portal and the web widget show the brand. */
export const publicBrandRoutes = nameRoutes({
  getPublicBrand: openRoute('GET', '/v1/portal/brand', {
    summary: 'Read the brand that clients see',
    description: 'An unknown project has an empty brand.',
    query: z.object({ project: projectParam }),
    responses: { 200: PublicBrandView },
    async handle({ ctx, query }) {
      const { brand, address } = await findPublicBrand(ctx, query.project)
      return toPublicBrandView(brand, address)
    },
  }),

  getPublicLogo: serveImage('logo', 'logo_file_id'),
  getPublicFavicon: serveImage('favicon', 'favicon_file_id'),
})
