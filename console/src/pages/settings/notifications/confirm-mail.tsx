import { useState } from 'react'
import { callOperation } from '../../../api/http.ts'
import { useApiMutation } from '../../../api/mutation.ts'
import { MutationButton } from '../../../ui/mutation-button.tsx'
import { showToast } from '../../../ui/toast.tsx'
import { notificationsText } from './text.ts'

const text = notificationsText.confirm

/** The token of a confirmation mail is in the fragment of the URL, which browsers do not send to servers. */
const tokenInUrl = () => new URLSearchParams(location.hash.slice(1)).get('confirm')

/** Asks to confirm the mail address. A click is needed, because mail scanners open links. */
export function ConfirmMail() {
  const [token, setToken] = useState(tokenInUrl)
  const confirm = useApiMutation(() => callOperation('confirmNotificationLink', { body: { token: token ?? '' } }), {
    invalidates: ['notifications'],
    onSuccess: () => {
      history.replaceState(history.state, '', location.pathname + location.search)
      setToken(null)
      showToast(text.done)
    },
  })
  if (token === null) return null
  return (
    <section aria-label={text.title} className="panel flex flex-col items-start gap-3 p-4">
      <h3 className="font-medium">{text.title}</h3>
      <p className="text-muted">{text.lead}</p>
      <MutationButton variant="primary" mutation={confirm}>
        {text.submit}
      </MutationButton>
    </section>
  )
}
