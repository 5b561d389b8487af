export const SIGNATURE = 'The Fernhill Studio team'

export const ANSWER_WITHIN_HOURS = { high: 4, normal: 24, low: 72 }

export const acknowledgement = (urgency) =>
  `Thank you, your message has reached us. A person will read it and answer within ${ANSWER_WITHIN_HOURS[urgency]} working hours.\n\n${SIGNATURE}`

export const SAVED_REPLIES = {
  billing:
    'I have your question about billing and am looking at your account by hand. I will tell you exactly what was charged and why, and put right whatever is wrong.',
  account:
    'Please use "Forgot password" on the sign-in page; the link works for one hour. If no mail comes within ten minutes, reply with the address you use and I will check it for you.',
  bug: 'Thank you for the report. I am trying to see the same thing here. If you can, reply with the browser you use and what you clicked just before; that usually halves the time to a fix.',
  how_to:
    'The short answer is on our help pages at https://help.example.com. If it does not fit your case, reply with what you want to end up with and I will write down the steps.',
  feedback:
    'Thank you, I have passed this on as you wrote it. We read every wish and do not promise dates, but it counts when we decide what comes next.',
  other: 'Thank you for writing. I want to answer the right question: could you tell me in one sentence what you need?',
}
