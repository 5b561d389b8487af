// The reply stays exactly as it was approved.
export default function publishReply({ reply, category, urgency }) {
  return { reply, category, urgency }
}
