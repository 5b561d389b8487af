import { acknowledgement } from './texts.mjs'

// The rules approve this text without a person, so no other text is accepted.
export default function publishAcknowledgement({ reply, category, urgency }) {
  if (reply !== acknowledgement(urgency)) throw new Error('reply must be the acknowledgement of sort_message')
  return { reply, category, urgency }
}
