import { keyRoutes } from '../../identity/accounts/key-routes.ts'
import { memberRoutes } from '../../identity/accounts/member-routes.ts'
import { projectRoutes } from '../../identity/accounts/project-routes.ts'
import { approvalPeopleRoutes } from '../../approvals/decisions/people-routes.ts'
import { approvalRoutes } from '../../approvals/decisions/routes.ts'
import { policyRoutes } from '../../approvals/suggestions/policy-routes.ts'
import { auditRoutes } from '../../audit/routes.ts'
import { blueprintRoutes } from '../../automation/blueprints/routes.ts'
import { brandRoutes } from '../../customers/brand/routes.ts'
import { caseRoutes } from '../../work/cases/routes.ts'
import { channelRoutes } from '../../customers/channels/routes.ts'
import { clientRoutes } from '../../customers/clients/routes.ts'
import { threadRoutes } from '../../conversations/team/routes.ts'
import { oauthRoutes } from '../../connections/setup/oauth-routes.ts'
import { brokerRoutes } from '../../connections/setup/broker-routes.ts'
import { connectionToolRoutes } from '../../connections/setup/tool-routes.ts'
import { connectionRoutes } from '../../connections/setup/routes.ts'
import { eventRoutes } from '../../work/events/routes.ts'
import { fileRoutes } from '../../work/files/routes.ts'
import type { OrganisationRoute, ProjectRoute } from '../../platform/http/route.ts'
import { intakeRoutes } from '../../wedges/knowledge/intake-routes.ts'
import { knowledgeRoutes } from '../../wedges/knowledge/routes.ts'
import { lifecycleRoutes } from '../../approvals/lifecycle/routes.ts'
import { erasureRoutes } from '../../automation/retention/routes.ts'
import { mcpAuthorisationRoutes } from '../mcp/oauth/authorisation-routes.ts'
import { mcpRoutes } from '../mcp/routes.ts'
import { notificationRoutes } from '../../approvals/notifications/routes.ts'
import { portalLinkRoutes } from '../../conversations/portal/link-routes.ts'
import { recordRoutes } from '../../work/records/routes.ts'
import { reportRoutes } from '../../insight/analytics/routes.ts'
import { scheduleRoutes } from '../../automation/schedules/routes.ts'
import { taskRoutes } from '../../work/tasks/routes.ts'
import { webhookRoutes } from '../../automation/webhooks/routes.ts'
import { wedgeRoutes } from '../../wedges/library/routes.ts'
import { VERSION } from './view.ts'

export type FounderRoute = OrganisationRoute | ProjectRoute

/** The founder's API by section of the reference. */
export const founderPlaneRoutes: Record<string, FounderRoute[]> = {
  Tasks: [
    taskRoutes.createTask,
    taskRoutes.listTasks,
    taskRoutes.getTask,
    taskRoutes.followTask,
    lifecycleRoutes.cancelTask,
    lifecycleRoutes.retryTask,
    taskRoutes.createTaskFeedback,
    reportRoutes.getTaskTrace,
    approvalRoutes.listTaskActions,
    taskRoutes.getArtifact,
  ],
  'Needs you': [reportRoutes.getNeedsYou],
  Files: [
    fileRoutes.createFile,
    fileRoutes.listFiles,
    fileRoutes.getFile,
    fileRoutes.getFileMeta,
    fileRoutes.deleteFile,
  ],
  Stream: [eventRoutes.followProject],
  Approvals: [
    approvalRoutes.listApprovals,
    approvalRoutes.getApproval,
    approvalPeopleRoutes.updateApproval,
    approvalRoutes.approveApproval,
    approvalRoutes.deleteHeldApproval,
    approvalRoutes.rejectApproval,
    approvalRoutes.reviseApproval,
    approvalPeopleRoutes.listApprovalComments,
    approvalPeopleRoutes.createApprovalComment,
  ],
  Notifications: [
    notificationRoutes.listNotifiers,
    notificationRoutes.setNotifier,
    notificationRoutes.setNotifierSecret,
    notificationRoutes.deleteNotifier,
    notificationRoutes.getNotificationSettings,
    notificationRoutes.updateNotificationSettings,
    notificationRoutes.getMyNotifications,
    notificationRoutes.updateMyNotifications,
    notificationRoutes.createNotificationLink,
    notificationRoutes.confirmNotificationLink,
    notificationRoutes.deleteNotificationLink,
  ],
  Connections: [
    connectionRoutes.createConnection,
    connectionRoutes.listConnections,
    connectionRoutes.getConnection,
    connectionRoutes.updateConnection,
    connectionRoutes.deleteConnection,
    connectionRoutes.setConnectionSecret,
    connectionRoutes.testConnection,
    connectionToolRoutes.listConnectionTools,
    connectionToolRoutes.updateConnectionTool,
    connectionToolRoutes.refreshConnectionTools,
    connectionRoutes.listPresets,
    oauthRoutes.getConnectionHealth,
    oauthRoutes.startConnectionOauth,
  ],
  Broker: [
    brokerRoutes.listToolkits,
    brokerRoutes.connectToolkit,
    brokerRoutes.connectAccount,
    brokerRoutes.getAccountStatus,
  ],
  Channels: [
    channelRoutes.createChannel,
    channelRoutes.listChannels,
    channelRoutes.listChannelAdapters,
    channelRoutes.getChannel,
    channelRoutes.updateChannel,
    channelRoutes.setChannelSecret,
    channelRoutes.deleteChannel,
    channelRoutes.receiveMessage,
  ],
  Clients: [
    clientRoutes.createClient,
    clientRoutes.listClients,
    clientRoutes.getClient,
    clientRoutes.updateClient,
    erasureRoutes.eraseClient,
    portalLinkRoutes.createPortalLink,
    portalLinkRoutes.revokePortalAccess,
  ],
  Brand: [brandRoutes.getBrand, brandRoutes.updateBrand],
  Threads: [
    threadRoutes.listThreads,
    threadRoutes.getThread,
    threadRoutes.updateThread,
    threadRoutes.startThreadTask,
    threadRoutes.createThreadMessage,
  ],
  Wedges: [
    wedgeRoutes.listWedges,
    knowledgeRoutes.getWedge,
    policyRoutes.getPolicy,
    policyRoutes.updatePolicy,
    policyRoutes.deletePolicy,
    policyRoutes.simulatePolicy,
    policyRoutes.listSuggestions,
  ],
  Knowledge: [
    knowledgeRoutes.listKnowledge,
    knowledgeRoutes.createKnowledge,
    knowledgeRoutes.getKnowledge,
    knowledgeRoutes.updateKnowledge,
    knowledgeRoutes.deleteKnowledge,
    knowledgeRoutes.listKnowledgeRevisions,
  ],
  Intake: [intakeRoutes.getIntake, intakeRoutes.answerIntakeQuestion, intakeRoutes.dismissIntakeQuestion],
  Cases: [
    caseRoutes.listCases,
    caseRoutes.createCase,
    caseRoutes.getCase,
    caseRoutes.updateCase,
    caseRoutes.listCaseFiles,
    caseRoutes.createCaseTask,
  ],
  Records: [recordRoutes.listRecords, recordRoutes.saveRecord, recordRoutes.getRecord, recordRoutes.deleteRecord],
  Schedules: [
    scheduleRoutes.listSchedules,
    scheduleRoutes.createSchedule,
    scheduleRoutes.getSchedule,
    scheduleRoutes.updateSchedule,
    scheduleRoutes.deleteSchedule,
    scheduleRoutes.runSchedule,
  ],
  Webhooks: [
    webhookRoutes.listWebhooks,
    webhookRoutes.createWebhook,
    webhookRoutes.getWebhook,
    webhookRoutes.updateWebhook,
    webhookRoutes.deleteWebhook,
    webhookRoutes.rotateWebhookSecret,
    webhookRoutes.listWebhookDeliveries,
    webhookRoutes.redeliverWebhook,
  ],
  Projects: [
    projectRoutes.listProjects,
    projectRoutes.createProject,
    projectRoutes.getProject,
    projectRoutes.updateProject,
    projectRoutes.updateProjectWedge,
  ],
  Keys: [keyRoutes.listKeys, keyRoutes.createKey, keyRoutes.getKey, keyRoutes.deleteKey],
  Members: [
    memberRoutes.listMembers,
    memberRoutes.inviteMember,
    memberRoutes.getMember,
    memberRoutes.updateMember,
    memberRoutes.deleteMember,
    memberRoutes.changePassword,
  ],
  Blueprints: [
    blueprintRoutes.listBlueprints,
    blueprintRoutes.provisionBlueprint,
    blueprintRoutes.getBlueprintReadiness,
    blueprintRoutes.activateBlueprint,
  ],
  Analytics: [reportRoutes.getAnalytics],
  Audit: [auditRoutes.listAuditEntries, auditRoutes.verifyAudit, auditRoutes.exportAudit],
  MCP: [...Object.values(mcpRoutes(VERSION)), ...Object.values(mcpAuthorisationRoutes)],
}
