import { findHeader, type MailHeaders } from './mail-headers.ts'

const AUTOMATIC_SUBJECT =
  /^\s*(?:automatic reply|auto(?:matic)?[- ]?reply|auto[- ]?response|out of (?:the )?office|undeliver(?:ed|able)|delivery status notification|mail delivery (?:failed|failure|subsystem)|returned mail|automatische antwort|abwesenheits|unzustellbar|réponse automatique|respuesta automática|risposta automatica)/i

/** A mail server writes itself: nobody reads an answer. */
export const isMailSystem = (address: string): boolean => /^(?:mailer-daemon|postmaster|mail-daemon)@/i.test(address)

/**
 * An automatic reply or a bulk mail (RFC 3834): it starts no task and is never answered. Mail that went
 * through a mailing list is not automatic, because many teams receive their customers' mail through one.
 */
export function isAutomaticMail(headers: MailHeaders, subject: string | null): boolean {
  const submitted = findHeader(headers, 'auto-submitted')
  if (submitted !== null && !/^\s*no\b/i.test(submitted)) return true
  if (/^\s*<\s*>/.test(findHeader(headers, 'return-path') ?? '')) return true
  if (/^\s*(?:bulk|junk|auto_reply)\b/i.test(findHeader(headers, 'precedence') ?? '')) return true
  if (/\b(?:all|autoreply|oof)\b/i.test(findHeader(headers, 'x-auto-response-suppress') ?? '')) return true
  if (
    ['x-autoreply', 'x-autorespond', 'x-autoresponse', 'x-failed-recipients'].some((name) => findHeader(headers, name))
  )
    return true
  return AUTOMATIC_SUBJECT.test(subject ?? '')
}

/** A bounce, or another report about a mail (RFC 3464, RFC 8098). */
export const isDeliveryReport = (headers: MailHeaders): boolean =>
  /^\s*multipart\/report\b.*\breport-type\s*=\s*"?(?:delivery-status|disposition-notification)/is.test(
    findHeader(headers, 'content-type') ?? '',
  )
