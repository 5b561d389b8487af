import type { Role } from '../api/types.ts'

/** The texts of the shared components. */
export const uiText = {
  copy: 'Copy',
  copied: 'Copied',
  copyAsCurl: 'Copy as curl',
  curlExample: 'Same request with the API',
  cancel: 'Cancel',
  escapeKey: 'Esc',
  done: 'Done',
  showMore: 'Show more',
  formMode: 'Form',
  jsonMode: 'JSON',
  json: 'JSON',
  invalidJson: 'Not valid JSON',
  viewOnlyAccess: 'You have view-only access.',
  yourRole: (role: Role) => `Your role is ${role}.`,
  taskStatus: {
    queued: 'Queued',
    provisioning: 'Starting',
    running: 'Running',
    awaiting_approval: 'Needs approval',
    succeeded: 'Succeeded',
    failed: 'Failed',
    rejected: 'Rejected',
    expired: 'Expired',
    cancelled: 'Cancelled',
  },
  approvalStatus: {
    pending: 'Pending',
    auto_approved: 'Auto-approved',
    approved: 'Approved',
    rejected: 'Rejected',
    expired: 'Expired',
  },
  openClosed: { open: 'Open', closed: 'Closed' },
  role: { viewer: 'Viewer', operator: 'Operator', admin: 'Admin', owner: 'Owner' },
}
