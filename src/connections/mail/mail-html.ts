/** Parts of the HTML mails that the service writes itself. Every text is escaped, except that of `noteHtml`. */
export const paragraphHtml = (text: string) => `<p>${escapeHtml(text)}</p>`

export const quoteHtml = (text: string) =>
  `<blockquote style="margin:0 0 16px;padding-left:12px;border-left:3px solid #ccc;white-space:pre-wrap">${escapeHtml(text)}</blockquote>`

export const noteHtml = (html: string) => `<p style="color:#666;font-size:13px">${html}</p>`

export const buttonHtml = (label: string, url: string) =>
  `<p><a href="${escapeHtml(url)}" style="display:inline-block;padding:10px 16px;border-radius:6px;background:#1a1a1a;color:#fff;text-decoration:none">${escapeHtml(label)}</a></p>`

export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
