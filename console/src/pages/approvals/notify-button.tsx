import { Bell as NotifyIcon, BellRing as NotifyingIcon } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { showToast } from '../../ui/toast.tsx'
import { approvalsText } from './text.ts'

/** Asks for permission to show browser notifications; the browser remembers the decision. */
export function NotifyButton() {
  const [permission, setPermission] = useState(() =>
    typeof Notification === 'undefined' ? 'unsupported' : Notification.permission,
  )
  if (permission === 'unsupported') return null
  if (permission === 'granted') {
    return (
      <span className="flex items-center gap-1.5 text-xs text-muted">
        <NotifyingIcon size={14} aria-hidden /> {approvalsText.notificationsOn}
      </span>
    )
  }
  const ask = async () => {
    const result = await Notification.requestPermission()
    setPermission(result)
    if (result === 'denied') showToast(approvalsText.notificationsBlocked, true)
  }
  return (
    <Button small onClick={() => void ask()} icon={<NotifyIcon size={14} />}>
      {approvalsText.notifyMe}
    </Button>
  )
}
