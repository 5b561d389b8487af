/** The files of a wedge that replies to a message after a person approved the reply. It works without a model. */
export function starterWedgeFiles(name: string): Record<string, string> {
  return {
    'wedge.json': toJsonFile(starterManifest(name)),
    'skills/answering.md': SKILL,
    'knowledge/company.md': KNOWLEDGE,
    'workflows/sort_message.mjs': SORT_MESSAGE,
    'workflows/send_answer.mjs': SEND_ANSWER,
    'rehearsals/answer.json': toJsonFile(REHEARSAL),
    'rehearsals/answer.input.json': toJsonFile({ from: 'kim@example.com', text: 'When are you open on Friday?' }),
  }
}

const toJsonFile = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const stringSchema = { type: 'string' }
const objectSchema = (properties: Record<string, unknown>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})
const topicSchema = { type: 'string', enum: ['question', 'complaint'] }

const starterManifest = (name: string) => ({
  wedge: name,
  title: name.replaceAll(/[-_]+/g, ' ').replace(/^./, (letter) => letter.toUpperCase()),
  skills: ['answering'],
  knowledge: ['company.md'],
  approvals: [{ action: 'send_answer', risk: 'medium', required: true, ttl_s: 86_400 }],
  policy: { auto_approve: [] },
  task_types: {
    answer: {
      description: 'Answer a message.',
      input_schema: objectSchema({ from: stringSchema, text: stringSchema }),
      harness: { shape: 'agent', steps: 8, max_runtime_s: 300, max_cost_usd: 0.25 },
      output_schema: objectSchema({ topic: topicSchema, sent_to: stringSchema, answer: stringSchema }),
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
      name: 'send_answer',
      description: 'Sends the answer after a person has approved it.',
      input_schema: objectSchema({ to: stringSchema, topic: topicSchema, text: stringSchema }),
      output_schema: objectSchema({ topic: topicSchema, sent_to: stringSchema, answer: stringSchema }),
    },
  ],
  intake: [{ id: 'hours', question: 'When are you open?', why: 'Many customers ask this.' }],
})

const REHEARSAL = [
  {
    say: 'A message from {{input.from}}. First I find its topic.',
    call: { tool: 'workflow', input: { name: 'sort_message', args: { text: '{{input.text}}' } } },
  },
  {
    say: 'It is a {{last.topic}}. I write an answer; a person approves it before it is sent.',
    call: {
      tool: 'workflow',
      input: {
        name: 'send_answer',
        args: {
          to: '{{input.from}}',
          topic: '{{last.topic}}',
          text: 'Thank you for your message. We are open Monday to Friday, 09:00 to 17:00.',
        },
      },
    },
  },
  { output: { topic: '{{last.topic}}', sent_to: '{{last.sent_to}}', answer: '{{last.answer}}' } },
]

const SKILL = `# Answering

1. Call \`sort_message\` with the text of the message.
2. Write an answer of at most five sentences. Use only facts from the knowledge.
3. Call \`send_answer\`. When it is approved, finish with the topic, the address and the answer.

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

const SEND_ANSWER = `/** Sends nothing yet. Replace it with an action when you have a connection for sending. */
export default function sendAnswer({ to, topic, text }) {
  return { topic, sent_to: to, answer: text }
}
`
