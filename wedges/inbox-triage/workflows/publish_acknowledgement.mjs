import { ANSWER_WITHIN_HOURS, SIGNATURE } from './texts.mjs'

export default function publishAcknowledgement({ category, urgency }) {
  const hours = ANSWER_WITHIN_HOURS[urgency]
  const reply = `Thank you, your message has reached us. A person will read it and answer within ${hours} working hours.\n\n${SIGNATURE}`
  return { reply, category, urgency }
}
