/** Where a link in somebody's text may lead: the web, an e-mail address, or our own help pages. */
export const safeLink = (href: string): { href: string; internal: boolean } | null => {
  const url = tidy(href);
  // Other pages of ours act on their query (a chat sends its prompt): no text may lead there.
  if (/^\/help(?:[/?#]|$)/.test(url)) return { href: url, internal: true };
  if (/^mailto:[^\s<>"']+$/i.test(url)) return { href: url, internal: false };
  if (!/^https?:\/\//i.test(url)) return null;
  return isUrl(url) ? { href: url, internal: false } : null;
};

/** Where a picture in somebody's text may come from; null: its words are shown instead. */
export const safeImage = (src: string): string | null => {
  const url = tidy(src);
  if (/^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=]+$/i.test(url)) return url;
  if (/^https:\/\//i.test(url)) return isUrl(url) ? url : null;
  // Our own addresses, but none that answers a call.
  if (/^\/(?![/\\])/.test(url) && !/^\/(?:api|v1)(?:[/?#]|$)/i.test(url)) return url;
  return null;
};

/** Without the characters that a browser drops, which could hide a scheme. */
const tidy = (url: string): string => {
  let clean = '';
  for (const char of url.trim()) {
    const code = char.codePointAt(0) ?? 0;
    if (code > 0x20 && code !== 0x7f) clean += char;
  }
  return clean;
};

const isUrl = (url: string): boolean => {
  try {
    return new URL(url).hostname !== '';
  } catch {
    return false;
  }
};
