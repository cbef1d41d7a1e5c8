/** Text of others inside markup, and before the eyes of a reader. */

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** Safe as content and inside either kind of quotes (HTML §13.1.2.4, XML 1.0 §2.4). */
export const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, char => references[char] ?? '')

/**
 * Characters that act on a terminal or an editor or that hide text, such as ESC and the marks of
 * writing direction, are shown as U+FFFD; line ends, tabs and joiners of letters stay.
 */
export const showControls = (text: string): string => text.replaceAll(/[^\P{C}\n\t\u200c\u200d]/gu, '\ufffd')
