import { z } from 'zod'
import { oneProject } from '../accounts/authenticate.ts'
import { SLUG } from '../base/names.ts'
import { page, pageOf, pageQuery } from '../http/page.ts'
import { read, write, nameRoutes } from '../http/route.ts'
import { activate } from './activate.ts'
import { blueprintAt, readBlueprints } from './folder.ts'
import { provision } from './provision.ts'
import { Readiness, readinessOf } from './readiness.ts'
import { installsIn } from './rows.ts'

const BlueprintSummary = z.object({
  blueprint: z.string(),
  title: z.string(),
  summary: z.string(),
  sells_as: z.string(),
  wedge: z.string(),
  installed: z.boolean().meta({ description: 'provisioned in at least one of the projects in scope' }),
  active: z.boolean(),
})
const Parts = z.object({
  connections: z.array(z.string()),
  schedules: z.array(z.string()),
  knowledge: z.array(z.string()),
})

export const blueprintRoutes = nameRoutes({
  listBlueprints: read('/v1/blueprints', {
    summary: 'List the blueprints, and whether each is installed',
    // Blueprints have no age: they are listed by name, and the name is the cursor.
    query: z.object(pageQuery(SLUG)),
    answers: {
      200: pageOf(BlueprintSummary).extend({
        problems: z.array(z.object({ blueprint: z.string(), problem: z.string() })),
      }),
    },
    async handle({ ctx, scope, query: { limit, cursor = '' } }) {
      const { blueprints, problems } = await readBlueprints(ctx.config.blueprintsDir)
      const installs = await installsIn(ctx.db, scope.projectIds)
      const rest = blueprints.filter(({ blueprint }) => blueprint > cursor)
      const listed = page(
        rest,
        limit,
        ({ blueprint }) => blueprint,
        ({ blueprint, title, summary, sells_as, wedge }) => {
          const here = installs.filter((install) => install.blueprint === blueprint)
          const active = here.some((install) => install.active === 1)
          return { blueprint, title, summary, sells_as, wedge, installed: here.length > 0, active }
        },
      )
      return { ...listed, problems }
    },
  }),

  provisionBlueprint: write('POST', '/v1/blueprints/:slug/provision', {
    summary: 'Make what a blueprint needs and is not there; nothing that exists is changed',
    role: 'admin',
    answers: { 200: z.object({ blueprint: z.string(), created: Parts, reused: Parts, readiness: Readiness }) },
    find: ({ ctx, params }) => blueprintAt(ctx, params.slug ?? ''),
    async handle({ ctx, scope, subject }) {
      const provisioned = await provision(ctx, scope, subject)
      const readiness = await readinessOf(ctx, scope.projectId, subject)
      return { blueprint: subject.blueprint, ...provisioned, readiness }
    },
  }),

  getBlueprintReadiness: read('/v1/blueprints/:slug/readiness', {
    summary: 'What is still missing, each item with the call that fixes it',
    answers: { 200: Readiness },
    find: ({ ctx, params }) => blueprintAt(ctx, params.slug ?? ''),
    handle: async ({ ctx, scope, subject }) => readinessOf(ctx, oneProject(scope).projectId, subject),
  }),

  activateBlueprint: write('POST', '/v1/blueprints/:slug/activate', {
    summary: 'Let a blueprint work: its schedules are switched on',
    role: 'admin',
    answers: {
      200: z.object({ ok: z.literal(true), active: z.literal(true) }),
      409: z.object({ error: z.string(), missing: Readiness.shape.items.optional() }),
    },
    find: ({ ctx, params }) => blueprintAt(ctx, params.slug ?? ''),
    async handle({ ctx, scope, subject }) {
      await activate(ctx, scope, subject)
      return { ok: true, active: true }
    },
  }),
})
