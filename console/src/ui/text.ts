import type { Role } from '../api/types.ts'
import { plural } from './plural.ts'

/** The texts of the shared components. */
export const uiText = {
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'The browser did not copy the text. Select it and copy it by hand.',
  copyAsCurl: 'Copy as curl',
  curlExample: 'Same request with the API',
  cancel: 'Cancel',
  escapeKey: 'Esc',
  done: 'Done',
  copyFirst: 'Copy it first, or select Done to close without a copy.',
  showMore: 'Show more',
  formMode: 'Form',
  jsonMode: 'JSON',
  json: 'JSON',
  invalidJson: 'Not valid JSON',
  clientNames: {
    unnamed: 'Unnamed client',
    visitor: (id: string) => `Website visitor ${id}`,
    slack: (id: string) => `Slack user ${id}`,
    telegram: (id: string) => `Telegram user ${id}`,
  },
  unverified: 'Sender not verified',
  question: {
    label: 'Answer form',
    answer: 'Your answer',
    send: 'Send answer',
    decline: 'Decline',
    confirmDecline: 'Decline: press again to continue without an answer',
    fields: {
      advanced: 'Advanced',
      onePerLine: 'One per line.',
      oneOf: 'One of:',
      add: 'Add',
      remove: 'Remove',
      name: 'Name',
      value: 'Value',
      nameTwice: 'Use each name only once.',
      /** How many items a list may have. */
      limits: (min: number, max: number | null) => {
        const count = plural(max ?? min, 'entry', 'entries')
        if (max === null) return `At least ${count}.`
        if (min === 0) return `At most ${count}.`
        return min === max ? `Exactly ${count}.` : `${min} to ${count}.`
      },
    },
  },
  secret: {
    label: 'Secret',
    stored: 'Stored. Enter a new one to replace it.',
    saved: 'Secret saved',
    save: 'Save secret',
  },
  viewOnlyAccess: 'You have view-only access.',
  yourRole: (role: Role) => `Your role is ${role}.`,
  taskStatus: {
    queued: 'Not started',
    waits_for_thread: 'Waits for an earlier message',
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
    sent_back: 'Sent back',
    expired: 'Expired',
  },
  openClosed: { open: 'Open', closed: 'Closed' },
  role: { viewer: 'Viewer', operator: 'Operator', admin: 'Admin', owner: 'Owner' },
}
