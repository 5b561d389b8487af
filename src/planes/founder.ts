import * as keys from '../accounts/key-routes.ts'
import * as members from '../accounts/member-routes.ts'
import * as projects from '../accounts/project-routes.ts'
import * as approvals from '../approvals/routes.ts'
import { postSimulate } from '../approvals/simulate-route.ts'
import * as audit from '../audit/routes.ts'
import * as blueprints from '../blueprints/routes.ts'
import * as cases from '../cases/routes.ts'
import * as channels from '../clients/channel-routes.ts'
import * as clients from '../clients/client-routes.ts'
import * as threads from '../clients/thread-routes.ts'
import * as broker from '../connections/broker-routes.ts'
import * as connections from '../connections/routes.ts'
import type { ProjectScope, Scope } from '../ctx/scope.ts'
import * as events from '../events/routes.ts'
import type { Route } from '../http/route.ts'
import * as intake from '../knowledge/intake-routes.ts'
import * as knowledge from '../knowledge/routes.ts'
import * as mcp from '../mcp/routes.ts'
import * as records from '../records/routes.ts'
import * as reports from '../reports/routes.ts'
import * as schedules from '../schedules/routes.ts'
import * as tasks from '../tasks/routes.ts'
import * as webhooks from '../webhooks/routes.ts'
import * as wedges from '../wedges/routes.ts'
import { VERSION } from './version.ts'

/** The founder's API, in the order of the contract. */
export type FounderRoute = Route<Scope> | Route<ProjectScope>

export const founderPlane: Record<string, FounderRoute[]> = {
  Tasks: [
    tasks.postTask,
    tasks.getTasks,
    tasks.getTask,
    tasks.getTaskEvents,
    approvals.postCancel,
    cases.retryTask,
    tasks.postFeedback,
    reports.getTrace,
    approvals.getTaskActions,
    tasks.getArtifact,
  ],
  Stream: [events.getStream],
  Approvals: [approvals.getApprovals, approvals.getApproval, approvals.postApprove, approvals.postReject, postSimulate],
  Connections: [
    connections.postConnection,
    connections.getConnections,
    connections.getConnection,
    connections.putConnection,
    connections.deleteConnectionRoute,
    connections.postSecret,
    connections.postTest,
  ],
  Broker: [broker.getToolkits, broker.postToolkitConnect, broker.postBrokerConnect, broker.getBrokerStatus],
  Channels: [
    channels.postChannel,
    channels.getChannels,
    channels.getChannel,
    channels.deleteChannel,
    channels.postInbound,
  ],
  Clients: [
    clients.postClient,
    clients.getClients,
    clients.getClient,
    clients.putClient,
    clients.postPortalLink,
    clients.postPortalRevoke,
  ],
  Threads: [threads.getThreads, threads.getThread, threads.putThread, threads.postThreadMessage],
  Wedges: [wedges.listWedges, knowledge.showWedge],
  Knowledge: [
    knowledge.listKnowledge,
    knowledge.addKnowledge,
    knowledge.showKnowledge,
    knowledge.changeKnowledge,
    knowledge.removeKnowledge,
    knowledge.listKnowledgeRevisions,
  ],
  Intake: [intake.showIntake, intake.answerIntake, intake.dismissIntake],
  Cases: [cases.getCases, cases.postCase, cases.getCase, cases.putCase, cases.postCaseTask],
  Records: [records.getRecords, records.postRecord, records.getRecord, records.deleteRecordRoute],
  Schedules: [
    schedules.getSchedules,
    schedules.postSchedule,
    schedules.getSchedule,
    schedules.putSchedule,
    schedules.deleteSchedule,
    schedules.runSchedule,
  ],
  Webhooks: [
    webhooks.getWebhooks,
    webhooks.postWebhook,
    webhooks.getWebhook,
    webhooks.putWebhook,
    webhooks.deleteWebhookRoute,
    webhooks.postRotate,
    webhooks.getDeliveries,
    webhooks.postRedeliver,
  ],
  Projects: [
    projects.getProjects,
    projects.postProject,
    projects.getProject,
    projects.putProject,
    projects.putProjectWedge,
  ],
  Keys: [keys.getKeys, keys.postKey, keys.getKey, keys.deleteKey],
  Members: [
    members.getMembers,
    members.postMember,
    members.getMember,
    members.putMember,
    members.deleteMember,
    members.postPassword,
  ],
  Blueprints: [
    blueprints.getBlueprints,
    blueprints.provisionBlueprint,
    blueprints.getReadiness,
    blueprints.activateBlueprint,
  ],
  Analytics: [reports.getAnalytics],
  Audit: [audit.getAudit, audit.verifyAudit, audit.exportAudit],
  MCP: [mcp.postMcp(VERSION), mcp.getMcp],
}
