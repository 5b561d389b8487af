import { z } from 'zod'
import { defineProjectRead, defineWrite, nameRoutes, openRoute } from '../http/route.ts'
import { BrandInput, changeBrand } from './brand.ts'
import { findPublicBrand, projectAddress } from './public-brand.ts'
import { findBrand } from './rows.ts'
import { BrandView, PublicBrandView, toBrandView, toPublicBrandView } from './view.ts'

export const brandRoutes = nameRoutes({
  getBrand: defineProjectRead('/v1/brand', {
    summary: 'Read the brand of the project',
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
})
