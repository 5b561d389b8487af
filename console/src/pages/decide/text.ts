export const decideText = {
  title: 'Approval',
  product: 'Agent Work Service',
  decidingAs: (name: string) => `You decide as ${name}.`,
  outcome: {
    approved: 'Approved',
    approvedHint: 'The agent continues with its task.',
    rejected: 'Rejected',
    rejectedHint: 'The task has ended and nothing was sent.',
    revised: 'Sent back',
    revisedHint: 'The agent has your note and continues, usually with a new request.',
    voted: 'Your approval is counted',
    votedHint: (votes: number, needed: number) =>
      `${votes} of ${needed} approvals. It takes effect when enough members have approved.`,
    answered: 'Answer sent',
    answeredHint: 'The agent continues with your answer.',
    declined: 'Question declined',
    declinedHint: 'The agent continues without an answer.',
  },
  closed: {
    gone: 'This link no longer works',
    invalid: 'This link is not valid',
    invalidHint: 'Open the link from the mail again. Check that it is complete.',
    forbidden: 'You cannot decide about this approval',
    failed: 'The approval cannot be shown',
    tryAgain: 'Try again',
    openConsole: 'Open approvals in the console',
  },
}
