import { escapeHtml } from '../../platform/base/text.ts'

/** Parts of the HTML mails that the service writes itself. Every text is escaped, except that of `noteHtml`. */
export const paragraphHtml = (text: string) => `<p>${escapeHtml(text)}</p>`

export const quoteHtml = (text: string) =>
  `<blockquote style="margin:0 0 16px;padding-left:12px;border-left:3px solid #ccc;white-space:pre-wrap">${escapeHtml(text)}</blockquote>`

export const noteHtml = (html: string) => `<p style="color:#666;font-size:13px">${html}</p>`

/** `color` is the brand's, as `#rrggbb`. */
export function buttonHtml(label: string, url: string, color: string | null = null): string {
  const background = color ?? '#1a1a1a'
  const style = `display:inline-block;padding:10px 16px;border-radius:6px;background:${background};color:${textColorOn(background)};text-decoration:none`
  return `<p><a href="${escapeHtml(url)}" style="${style}">${escapeHtml(label)}</a></p>`
}

/** The share of each primary colour in how bright a colour looks (ITU-R BT.601). */
const BRIGHTNESS_SHARES = [0.299, 0.587, 0.114]

/** Black or white, whichever is easier to read on the colour. */
function textColorOn(color: string): string {
  const brightness = BRIGHTNESS_SHARES.reduce(
    (sum, share, n) => sum + share * Number.parseInt(color.slice(1 + 2 * n, 3 + 2 * n), 16),
    0,
  )
  return brightness > 150 ? '#000' : '#fff'
}
