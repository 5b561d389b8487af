/** The names of the services that carry messages. A new one is shown by its id until it has a name here. */
export const adapterNames: Record<string, string> = {
  mail: 'Mailbox (IMAP and SMTP)',
  postmark: 'Postmark',
  mailgun: 'Mailgun',
  resend: 'Resend',
  slack: 'Slack',
  telegram: 'Telegram',
  twilio: 'Twilio (SMS and WhatsApp)',
  widget: 'Chat widget on your website',
}

/** The same in one word, for lists of conversations. */
export const channelKinds: Record<string, string> = {
  mail: 'Mail',
  postmark: 'Mail',
  mailgun: 'Mail',
  resend: 'Mail',
  slack: 'Slack',
  telegram: 'Telegram',
  twilio: 'SMS',
  widget: 'Website',
}

/** How the field `address` of a channel is called, and what to enter. */
interface AddressText {
  label: string
  hint: string
  example: string
}

const MAIL_ADDRESS = { label: 'Address', hint: 'The address that people write to.', example: 'help@example.com' }

/** The field `address` by the service. A new service has the one of the founder's own server. */
export const adapterAddresses: Record<string, AddressText> = {
  mail: MAIL_ADDRESS,
  postmark: MAIL_ADDRESS,
  mailgun: MAIL_ADDRESS,
  resend: MAIL_ADDRESS,
  slack: {
    label: 'Name',
    hint: 'Such as the workspace or the Slack channel. Only your team sees it.',
    example: '#help',
  },
  telegram: { label: 'Bot', hint: 'The user name of the bot that people write to.', example: '@desk_bot' },
  twilio: { label: 'Phone number', hint: 'The number that people write to.', example: '+15550100' },
  widget: { label: 'Name', hint: 'Such as the name of your website. Only your team sees it.', example: 'shop.example' },
}

export const ownServerAddress: AddressText = {
  label: 'Address',
  hint: 'The mailbox, phone number or account that people write to.',
  example: 'help@example.com',
}

/** What the connection of a channel has to be, by the service. */
export const adapterConnections: Record<string, string> = {
  mail: 'Replies are sent through this mail connection.',
  postmark: 'Replies are sent through this mail connection.',
  mailgun: 'Replies are sent through this mail connection.',
  resend: 'Mails are read and replies are sent through this connection to Resend.',
  slack: 'The API connection that has the bot token of the Slack app. Replies are sent through it.',
  telegram: 'The API connection that has the token of the bot. Replies are sent through it.',
  twilio: 'The API connection that has the auth token of Twilio. Replies are sent through it.',
}

const REPLY_STEP = 'Replies are sent through the connection of this channel. Check that it has its API key.'

/** What a person does at the provider, in order. The address of the hook is shown below the steps. */
export const adapterSteps: Record<string, string[]> = {
  mail: [
    'Enter the password of the mailbox below. New mail is fetched from then on.',
    'Replies are sent through the email connection of this channel.',
  ],
  postmark: [
    'Choose a password and save it below.',
    'At Postmark, open the inbound stream of your server and enter the address below as webhook, with any user name and the password before the host: https://any:password@…',
    REPLY_STEP,
  ],
  mailgun: [
    'At Mailgun, create a route for your address with the action “Store and notify” and the address below.',
    'Copy the HTTP webhook signing key from Mailgun and save it below.',
    REPLY_STEP,
  ],
  resend: [
    'At Resend, add a webhook for the event email.received with the address below.',
    'Copy the signing secret of the webhook (whsec_…) and save it below.',
    REPLY_STEP,
  ],
  slack: [
    'Create a Slack app and add the bot scopes chat:write, files:read, im:history and channels:history.',
    'Copy the signing secret of the app and save it below.',
    'Turn on event subscriptions with the address below, and subscribe to message.im and message.channels.',
    REPLY_STEP,
  ],
  telegram: [
    'Create a bot with @BotFather.',
    'Choose a secret and save it below.',
    'Call setWebhook of the bot with the address below as url and the same secret as secret_token.',
    REPLY_STEP,
  ],
  twilio: [
    'Copy the auth token of your Twilio account and save it below.',
    'Enter the address below as webhook for incoming messages of your number.',
    REPLY_STEP,
  ],
  widget: ['Add the script tag below to the pages of your website.'],
}
