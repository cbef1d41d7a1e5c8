/** Text inside markup. */

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** Safe as content and inside either kind of quotes (HTML §13.1.2.4, XML 1.0 §2.4). */
export const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, char => references[char] ?? '')
