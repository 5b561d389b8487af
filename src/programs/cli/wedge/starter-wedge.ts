/** The files of a wedge that replies to a message after a person approved the reply. It works without a model. */
export function starterWedgeFiles(name: string): Record<string, string> {
  return {
    'wedge.json': toJsonFile(starterManifest(name)),
    'skills/answering.md': SKILL,
    'knowledge/company.md': KNOWLEDGE,
    'workflows/sort_message.mjs': SORT_MESSAGE,
    'workflows/publish_reply.mjs': PUBLISH_REPLY,
    'rehearsals/answer.json': toJsonFile(REHEARSAL),
    'rehearsals/answer.input.json': toJsonFile(EXAMPLE),
  }
}

/** The input that a message of a channel becomes. */
const EXAMPLE = {
  from: { handle: 'kim@example.com', name: 'Kim' },
  subject: 'Opening hours',
  body: 'When are you open on Friday?',
}

const toJsonFile = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const stringSchema = { type: 'string' }
const objectSchema = (properties: Record<string, unknown>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})
const optionalString = { type: ['string', 'null'] }
const messageSchema = {
  type: 'object',
  required: ['from', 'body'],
  properties: {
    from: { type: 'object', required: ['handle'], properties: { handle: stringSchema, name: optionalString } },
    subject: optionalString,
    body: stringSchema,
  },
}
const topicSchema = { type: 'string', enum: ['question', 'complaint'] }

const starterManifest = (name: string) => ({
  wedge: name,
  title: name.replaceAll(/[-_]+/g, ' ').replace(/^./, (letter) => letter.toUpperCase()),
  skills: ['answering'],
  knowledge: ['company.md'],
  approvals: [{ action: 'publish_reply', risk: 'medium', required: true, is_reply: true, ttl_s: 86_400 }],
  policy: { auto_approve: [] },
  task_types: {
    answer: {
      description: 'Answer a message. Works on every channel.',
      input_schema: messageSchema,
      harness: { shape: 'agent', steps: 8, max_runtime_s: 300, max_cost_usd: 0.25 },
      output_schema: objectSchema({ topic: topicSchema, reply: stringSchema }),
    },
  },
  workflows: [
    {
      name: 'sort_message',
      description: 'Returns the topic of a message. Call it first.',
      input_schema: objectSchema({ text: stringSchema }),
      output_schema: objectSchema({ topic: topicSchema }),
    },
    {
      name: 'publish_reply',
      description: 'Gives the client this reply, unchanged, once a person has approved it.',
      input_schema: objectSchema({ topic: topicSchema, reply: stringSchema }),
      output_schema: objectSchema({ topic: topicSchema, reply: stringSchema }),
    },
  ],
  intake: [{ id: 'hours', question: 'When are you open?', why: 'Many customers ask this.' }],
})

const REHEARSAL = [
  {
    say: 'A new message. First I find its topic.',
    call: { tool: 'workflow', input: { name: 'sort_message', args: { text: '{{input.body}}' } } },
  },
  {
    say: 'It is a {{last.topic}}. I write a reply; a person approves it before the client gets it.',
    call: {
      tool: 'workflow',
      input: {
        name: 'publish_reply',
        args: {
          topic: '{{last.topic}}',
          reply: 'Thank you for your message. We are open Monday to Friday, 09:00 to 17:00.',
        },
      },
    },
  },
  { output: { topic: '{{last.topic}}', reply: '{{last.reply}}' } },
]

const SKILL = `# Answering

1. Call \`sort_message\` with the body of the message.
2. Write a reply of at most five sentences. Use only facts from the knowledge.
3. Call \`publish_reply\`. Finish with the topic and the reply that it returns, unchanged.

If a fact is missing in the knowledge, report the gap. Do not promise anything.
`

const KNOWLEDGE = `# The company

- Open Monday to Friday, 09:00 to 17:00.
- Messages are answered within one working day.
`

const SORT_MESSAGE = `/** This is code and not a prompt, so that the same message always gets the same topic. */
export default function sortMessage({ text }) {
  const complaint = /\\b(broken|late|wrong|refund|angry|complain)/i.test(text)
  return { topic: complaint ? 'complaint' : 'question' }
}
`

const PUBLISH_REPLY = `/** The reply stays exactly as it was approved. The service gives it to the client when the task has ended. */
export default function publishReply({ topic, reply }) {
  return { topic, reply }
}
`
