import { Bell, BellRing } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { showToast } from '../../ui/toast.tsx'

/** Asks the browser once; it forgets neither a yes nor a no. */
export function NotifyButton() {
  const [permission, setPermission] = useState(() =>
    typeof Notification === 'undefined' ? 'unsupported' : Notification.permission,
  )
  if (permission === 'unsupported') return null
  if (permission === 'granted') {
    return (
      <span className="flex items-center gap-1.5 text-xs text-muted">
        <BellRing size={14} aria-hidden /> This browser tells you of new ones
      </span>
    )
  }
  const ask = async () => {
    const answer = await Notification.requestPermission()
    setPermission(answer)
    if (answer === 'denied')
      showToast('The browser refuses notices from this address; its settings can change that.', true)
  }
  return (
    <Button small onClick={() => void ask()} icon={<Bell size={14} />}>
      Notify me
    </Button>
  )
}
