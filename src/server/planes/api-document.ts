import { createOpenApiDocument, type DescribedRoute, type OpenApiDocument } from '../../platform/http/openapi.ts'
import { portalRoutes } from '../../conversations/portal/routes.ts'
import { founderPlaneRoutes } from './founder.ts'
import { metaRoutes, openPlaneRoutes, type ReplicaState } from './service-routes.ts'
import { type ShownSandbox, VERSION } from './view.ts'

/** Every route of the public server, by plane and by section of the reference. */
export function listPublicRoutes(driver: Promise<ShownSandbox | null>, readState: () => ReplicaState) {
  return {
    open: openPlaneRoutes(readState),
    founder: { ...founderPlaneRoutes, Service: Object.values(metaRoutes(driver)) },
    client: { Portal: Object.values(portalRoutes) },
  }
}

type RoutesByPlane = Record<DescribedRoute['plane'], Record<string, DescribedRoute['route'][]>>

export function createApiDocument(planes: RoutesByPlane, publicUrl: string | null): OpenApiDocument {
  const described = (['open', 'founder', 'client'] as const).flatMap((plane) =>
    Object.entries(planes[plane]).flatMap(([section, routes]) => routes.map((route) => ({ plane, section, route }))),
  )
  return createOpenApiDocument({ version: VERSION, url: publicUrl ?? '/', sections: SECTIONS }, described)
}

/** The sections of the reference. */
const SECTIONS: Record<string, string> = {
  Health: 'Whether the service is up.',
  'Sign-in': 'Accounts and sessions of members.',
  Tasks: 'Units of agent work: create, follow, cancel, retry.',
  Files: 'Files for tasks and messages.',
  Stream: 'Live changes for screens.',
  Approvals: 'Human in the loop: decide about actions that stopped at the gate.',
  Notifications: 'How members are notified of approvals, and decide where they are.',
  Connections: 'External services that agents may use. Agents never see the credentials.',
  Broker: 'Connections through an integration broker.',
  Channels: 'Inbound addresses and the task that each message starts.',
  Clients: 'The people that the work is done for.',
  Brand: 'Name, colour, logo and language of what clients see.',
  Threads: 'Conversations with clients.',
  Wedges: 'Lines of work, loaded from folders.',
  Knowledge: 'What runs know, and how it grows from corrections.',
  Intake: 'Questions whose answers make runs better.',
  Cases: 'Work that spans several tasks.',
  Records: 'Data that agents keep between runs.',
  Schedules: 'Recurring tasks.',
  Webhooks: 'Signed event notifications for your server.',
  Projects: 'Projects of the organisation.',
  Keys: 'API keys of a project.',
  Members: 'People of the organisation and their roles.',
  Blueprints: 'Ready-made services with a setup checklist.',
  Analytics: 'Runs, success, cost and approval times.',
  Audit: 'The tamper-evident audit log.',
  MCP: 'The service as an MCP server.',
  Portal: "The client's own view of its threads, tasks and cases.",
  Service: 'The deployment itself.',
}
