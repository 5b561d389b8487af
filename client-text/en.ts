/** All texts that clients read, in English. The other languages have the same parts with the same keys. */
export const languageName = 'English'

/** The pages of the portal. */
export const portal = {
  portal: 'Client portal',
  welcome: 'Welcome',
  linkHint: 'This link signs you in on this device. It works once.',
  continue: 'Continue',
  linkExpired: 'This link has expired or was already used. Ask for a new one.',
  tryAgain: 'Something went wrong. Try again.',
  signIn: 'Sign in',
  signedOut: 'You are signed out',
  signedOutHint: 'Open the link that you received. If it no longer works, ask for a new one.',
  requestLink: 'Send me a new link',
  emailLabel: 'Your email address',
  linkRequested: 'If we know this address, a sign-in link is on its way. Check your inbox.',
  greeting: (name: string | null) => (name ? `Hi ${name}` : 'Welcome back'),
  conversations: 'Conversations',
  noConversations: 'No conversations yet',
  conversation: 'Conversation',
  newConversation: 'New conversation',
  subject: 'Subject',
  optional: 'optional',
  chooseConversation: 'Choose a conversation, or start a new one.',
  chooseConversationOnly: 'Choose a conversation.',
  unread: 'New answer',
  you: 'You',
  team: 'Team',
  status: { open: 'Open', closed: 'Closed' } as Record<string, string>,
  /** Common stages of cases, in lower case. */
  stages: {
    new: 'New',
    open: 'Open',
    'in progress': 'In progress',
    'in review': 'In review',
    pending: 'Pending',
    waiting: 'Waiting',
    'waiting on us': 'We are working on it',
    'waiting on customer': 'Waiting for you',
    reminded: 'Reminder sent',
    escalated: 'With our team',
    paid: 'Paid',
    solved: 'Solved',
    resolved: 'Solved',
    done: 'Done',
    closed: 'Closed',
    cancelled: 'Cancelled',
  } as Record<string, string>,
  yes: 'Yes',
  no: 'No',
  cases: 'Your cases',
  case: 'Case',
  approvals: 'Approvals for you',
  questions: 'Questions for you',
  question: 'Question for you',
  allConversations: 'All conversations',
  messages: 'Messages',
  yourMessage: 'Your message',
  messagePlaceholder: 'Write a message',
  send: 'Send',
  cancel: 'Cancel',
  attach: 'Attach files',
  uploading: 'Uploading',
  removeFile: (name: string) => `Remove ${name}`,
  conversationClosed: 'This conversation is closed.',
  offline: 'You seem to be offline. Try again.',
  sessionEnded: 'Your session has ended. Ask for a new link.',
  tooLong: 'This message is too long.',
  fileTooLarge: (limit: string) => `This file is larger than ${limit}.`,
  storageFull: 'There is no room for this file. Write to the team.',
  tooMany: 'Too many requests. Wait a minute and try again.',
  notPossible: 'This is not possible at the moment.',
  alreadyAnswered: 'This question has been answered already.',
  unexpectedStatus: (status: number) => `The service responded with status ${status}`,
  showResult: 'Show result',
  preview: (name: string) => `Show ${name}`,
  firstRows: (count: number) => `The first ${count} rows. Download the file to see all of them.`,
  download: (name: string) => `Download ${name}`,
  account: 'Account',
  close: 'Close',
  notices: 'Send me a mail when there is a new answer',
  otherDevice: 'Use another device',
  otherDeviceHint: 'Open this link on the other device. It works once, for 15 minutes.',
  copy: 'Copy',
  copied: 'Copied',
  signOut: 'Sign out',
  signOutEverywhere: 'Sign out on all devices',
  connections: 'Connected accounts',
  connect: 'Connect',
  connected: 'Connected',
  unsubscribe: 'Stop these mails',
  unsubscribeHint: 'Press the button to stop the mails about new answers. You can change this in the portal.',
  unsubscribeUnknown: 'This link is not valid any more. You can stop the mails in the portal.',
  unsubscribed: 'You will get no more mails about new answers.',
  progress: {
    received: 'Received',
    working: 'Working on it',
    waiting: 'Waiting for your answer',
    waitingForApproval: 'Waiting for your approval',
    done: 'Done',
    needsReply: 'A team member will reply shortly',
    steps: (count: number) => (count === 1 ? '1 step' : `${count} steps`),
    lookingUp: 'Looking up information',
    readingFiles: 'Reading your files',
    writingFile: 'Writing a document',
    calculating: 'Working out the details',
    acting: 'Preparing the next action',
    checking: 'Checking the result',
  },
  approval: {
    label: 'Your approval is needed',
    decideBy: (date: string) => `Decide before ${date}`,
    approve: 'Approve',
    confirmApprove: 'Yes, approve',
    approveHint: 'It is done as shown here as soon as you approve.',
    decline: 'Decline',
    confirmDecline: 'Yes, decline',
    declineHint: 'Nothing is done, and the request ends.',
    reason: 'Reason',
    youApproved: 'You approved this.',
    waitsForOthers: 'You approved this. It is done as soon as our team has approved it too.',
    approved: 'This was approved.',
    youDeclined: 'You declined this.',
    withdrawn: 'This is no longer needed.',
    expired: 'There was no decision in time, so nothing was done.',
    changed: 'This has changed or was decided already. Please read it again.',
  },
  answer: {
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
        const count = `${max ?? min} ${(max ?? min) === 1 ? 'entry' : 'entries'}`
        if (max === null) return `At least ${count}.`
        if (min === 0) return `At most ${count}.`
        return min === max ? `Exactly ${count}.` : `${min} to ${count}.`
      },
    },
  },
}

export type PortalText = typeof portal

/** The chat window on the website. */
export const widget = {
  chat: 'Chat',
  open: 'Open the chat',
  openWithUnread: (count: number) => `Open the chat, ${count} new`,
  close: 'Close the chat',
  welcome: 'How can we help?',
  messages: 'Messages',
  message: 'Your message',
  send: 'Send',
  you: 'You',
  working: 'An answer is being written',
  notSent: 'Not sent.',
  notAllowed: 'The chat is not available on this page.',
  tooMany: 'Too many messages. Wait a few minutes.',
  tryAgain: 'Try again',
  offline: 'The chat cannot be reached at the moment.',
  contact: 'Leave your email address',
  /** If the service mails answers to visitors. */
  contactForMail: 'Also send me the answer by email',
  contactHint: 'Optional. Sent with your next message.',
  name: 'Name',
  email: 'Email',
}

export type WidgetText = typeof widget

/** Mails of the service. `{name}` is the name of the brand. */
export const mail = {
  /** Stands for `{name}`, the name of the brand, if it has none. */
  team: 'the team',
  linkSubject: 'Your sign-in link for {name}',
  linkIntro: 'Use this link to sign in. It works once, on one device, for seven days.',
  linkButton: 'Sign in',
  linkNote: 'If you did not ask for this link, ignore this mail.',
  noticeSubject: 'New answer from {name}',
  noticeIntro: '{name} answered you:',
  questionSubject: 'Question from {name}',
  questionIntro: 'You have a question from {name}:',
  noticeButton: 'Read and reply',
  noticeNote: 'Do not reply to this mail: replies are not read.',
  /** For an address that the client only typed: the text stays in the chat window. */
  chatIntro: 'You have a new answer from {name}.',
  chatQuestionIntro: 'You have a question from {name}.',
  chatHint: 'To read it, open the chat on our website, in the browser in which you wrote to us.',
  chatButton: 'Open the website',
  unsubscribe: 'Stop these mails',
}

export type MailText = typeof mail

/** What the service writes into a conversation. */
export const message = {
  confirmAction: (action: string) => `Please confirm: ${action}`,
  confirmReply: 'Please confirm this reply',
  /** For an action that has no words of its own. */
  confirmStep: 'Please confirm this step',
  decideInPortal: 'You can approve or decline it in the portal.',
  noDecision:
    'We are sorry. Your request needed a decision by our team, and nobody decided in time, so it was not completed. ' +
    'The team can start it again. You can also send us a new message.',
  noAnswer:
    'We got no answer to our question in time, so your request was not completed. ' +
    'The team can start it again. You can also send us a new message.',
  noApproval:
    'Your request needed your approval, and not everyone who was asked decided in time, so it was not completed. ' +
    'The team can start it again. You can also send us a new message.',
  yes: 'Yes',
  no: 'No',
}

export type MessageText = typeof message
