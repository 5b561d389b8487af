/** A wedge whose action goes through a connection, so that its payload can be edited. */
const LETTERS = {
  'letters/wedge.json': {
    wedge: 'letters',
    title: 'Letters',
    connections: ['post'],
    approvals: [{ action: 'post:send', risk: 'medium', required: true }],
    task_types: { write: { description: 'Send one letter. Input: to, subject.' }, pretend: {} },
  },
  'letters/skills/letter-style/SKILL.md':
    '---\nname: letter-style\ndescription: How a letter looks. Use it for every letter.\n---\nBegin with **Dear**.',
  'letters/skills/letter-style/references/closings.md': 'Yours',
  'letters/rehearsals/write.json': [
    {
      say: 'I send the letter.',
      call: {
        tool: 'act',
        input: {
          connection: 'post',
          capability: 'post:send',
          payload: { to: '{{input.to}}', subject: '{{input.subject}}' },
        },
      },
    },
    { output: { sent: true } },
  ],
  // The action names another connection than the one that it uses.
  'letters/rehearsals/pretend.json': [
    { call: { tool: 'act', input: { connection: 'post', capability: 'bank:send', payload: { to: '{{input.to}}' } } } },
    { output: { sent: true } },
  ],
}

/** A wedge that produces a long text. */
const POEMS = {
  'poems/wedge.json': {
    wedge: 'poems',
    title: 'Poems',
    task_types: { recite: { description: 'Say a long poem.', harness: { steps: 40 } } },
  },
  'poems/rehearsals/recite.json': [
    ...Array.from({ length: 30 }, (_, verse) => ({
      say: `Verse ${verse}. ${'The ship goes out and the ship comes home. '.repeat(6)}`,
      call: { tool: 'records_put', input: { collection: 'verses', key: `v${verse}`, value: { verse } } },
    })),
    { output: { said: true } },
  ],
}

/** A wedge that replies and writes one file for the client and one for the founder. */
const QUOTES = {
  'quotes/wedge.json': {
    wedge: 'quotes',
    title: 'Quotes',
    tools: ['files'],
    policy: { auto_approve: [{ action: 'post:reply' }, { action: 'widget:reply' }] },
    task_types: { quote: {} },
  },
  'quotes/rehearsals/quote.json': [
    { call: { tool: 'write_file', input: { path: 'out/client/quote.txt', content: '84 USD' } } },
    { call: { tool: 'write_file', input: { path: 'out/margin.txt', content: '30 USD' } } },
    { output: { reply: 'Here is your quote.' } },
  ],
}

/** A wedge that proposes a reply to each message, and fails if the message says so. */
const ANSWERS = {
  'answers/wedge.json': {
    wedge: 'answers',
    title: 'Answers',
    connections: ['post'],
    approvals: [{ action: 'post:reply', risk: 'medium', required: true }],
    task_types: { answer: {} },
  },
  'answers/rehearsals/answer.json': [
    {
      say: 'I write a draft.',
      call: {
        tool: 'act',
        input: {
          connection: 'post',
          capability: 'post:reply',
          payload: { to: '{{input.from.handle}}', text: 'Thank you for your message. We look into it today.' },
        },
      },
    },
    { output: { answered: true } },
  ],
}

/** The files of all wedges that the tests of the console use, besides the example wedges. */
export const CONSOLE_WEDGES = { ...LETTERS, ...POEMS, ...QUOTES, ...ANSWERS }
