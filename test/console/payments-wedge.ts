/** A wedge whose actions have different risks and different rules about the people who decide. */
export const PAYMENTS = {
  'payments/wedge.json': {
    wedge: 'payments',
    title: 'Payments',
    connections: ['post', 'tickets'],
    approvals: [
      { action: 'post:refund', risk: 'high', required: true },
      { action: 'post:transfer', risk: 'medium', required: true, needed: 2 },
      { action: 'post:grant', risk: 'medium', required: true, approvers: ['owner'] },
      { action: 'post:own', risk: 'medium', required: true, exclude_requester: true },
      { action: 'post:mail', risk: 'medium', required: true },
      { action: 'tickets:update_ticket', risk: 'medium', required: true },
    ],
    cases: { stages: ['open', 'done'], initial: 'open' },
    task_types: { pay: {}, refund: {}, transfer: {}, grant: {}, own: {}, mail: {}, ticket: {} },
  },
  'payments/rehearsals/pay.json': act('post:refund', {
    amount_usd: '{{input.amount_usd}}',
    order_id: '{{input.order_id}}',
  }),
  // The input is the message of a customer.
  'payments/rehearsals/refund.json': [
    {
      say: 'I look the order up.',
      call: { tool: 'records_put', input: { collection: 'orders', key: 'A-1', value: { paid_usd: 84.5 } } },
    },
    ...act('post:refund', { amount_usd: 84.5, order_id: '{{input.subject}}' }),
  ],
  'payments/rehearsals/transfer.json': act('post:transfer', {
    amount_usd: 500,
    account: '{{input.account}}',
    contract: '{{input.contract}}',
  }),
  'payments/rehearsals/grant.json': act('post:grant', { account: '{{input.account}}' }),
  'payments/rehearsals/own.json': act('post:own', { account: '{{input.account}}' }),
  'payments/rehearsals/mail.json': act('post:mail', {
    to: ['ada@example.com', 'kim@example.com'],
    subject: 'Your invoice',
    text: 'Dear Ada,\n\nhere is your invoice.',
    html: '<p>Dear Ada,</p><p>here is <a href="https://evil.example/pay">your invoice</a>.<script>alert(1)</script></p>',
    priority: 'low',
  }),
  'payments/rehearsals/ticket.json': [
    { call: { tool: 'tickets__update_ticket', input: { id: 7, status: 'open', tags: ['vip'] } } },
    { output: { done: true } },
  ],
}

function act(capability: string, payload: object) {
  return [{ call: { tool: 'act', input: { connection: 'post', capability, payload } } }, { output: { done: true } }]
}

/** An operation with a schema, of which the edit form is made. */
export const UPDATE_TICKET = {
  name: 'update_ticket',
  description: 'Update a ticket.',
  method: 'POST',
  path: '/tickets',
  input_schema: {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      status: { type: 'string', enum: ['open', 'solved'], description: 'The new status.' },
      tags: { type: 'array', items: { type: 'string' } },
      comment: { type: 'string' },
    },
    required: ['id', 'status'],
  },
}
