import { z } from 'zod'
import { requireOneProject } from '../../identity/authentication/authenticate.ts'
import { SLUG } from '../../platform/base/text.ts'
import { pageQuery, toPage } from '../../platform/http/page.ts'
import { defineRead, defineWrite, nameRoutes } from '../../platform/http/route.ts'
import { activateBlueprintInProject } from './activate-blueprint.ts'
import { provisionBlueprintInProject } from './provision-blueprint.ts'
import { readBlueprints, requireBlueprint } from './read-blueprints.ts'
import { checkReadiness } from './readiness.ts'
import { listInstalls } from './rows.ts'
import {
  ActivatedBlueprintView,
  BlueprintPageView,
  NotReadyView,
  ProvisionedBlueprintView,
  ReadinessView,
} from './view.ts'

export const blueprintRoutes = nameRoutes({
  listBlueprints: defineRead('/v1/blueprints', {
    summary: 'List blueprints',
    description:
      'Sorted by name. `installed` and `active` say what the projects of the credential have of each. Files that cannot be read are in `problems`.',
    // Blueprints are files without a creation time, so they are sorted by name, and the name is the cursor.
    query: z.object(pageQuery(SLUG)),
    responses: { 200: BlueprintPageView },
    async handle({ ctx, scope, query: { limit, cursor = '' } }) {
      const { blueprints, problems } = await readBlueprints(ctx.config.blueprintsDir)
      const installs = await listInstalls(ctx.db, scope.projectIds)
      const rest = blueprints.filter(({ blueprint }) => blueprint > cursor)
      const listed = toPage(
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

  provisionBlueprint: defineWrite('POST', '/v1/blueprints/:slug/provision', {
    summary: 'Provision a blueprint',
    description: 'Creates what is missing and changes nothing that exists.',
    role: 'admin',
    responses: { 200: ProvisionedBlueprintView },
    find: ({ ctx, params }) => requireBlueprint(ctx, params.slug ?? ''),
    async handle({ ctx, scope, subject }) {
      const provisioned = await provisionBlueprintInProject(ctx, scope, subject)
      const readiness = await checkReadiness(ctx, scope.projectId, subject)
      return { blueprint: subject.blueprint, ...provisioned, readiness }
    },
  }),

  getBlueprintReadiness: defineRead('/v1/blueprints/:slug/readiness', {
    summary: 'Read the readiness of a blueprint',
    description: 'Lists what is missing, each item with the call that fixes it.',
    responses: { 200: ReadinessView },
    find: ({ ctx, params }) => requireBlueprint(ctx, params.slug ?? ''),
    handle: async ({ ctx, scope, subject }) => checkReadiness(ctx, requireOneProject(scope).projectId, subject),
  }),

  activateBlueprint: defineWrite('POST', '/v1/blueprints/:slug/activate', {
    summary: 'Activate a blueprint',
    description: 'Enables its schedules.',
    role: 'admin',
    responses: { 200: ActivatedBlueprintView, 409: NotReadyView },
    find: ({ ctx, params }) => requireBlueprint(ctx, params.slug ?? ''),
    async handle({ ctx, scope, subject }) {
      await activateBlueprintInProject(ctx, scope, subject)
      return { ok: true, active: true }
    },
  }),
})
