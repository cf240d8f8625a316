/** Stands for our own address where that is not known: nobody has it. */
const nowhere = 'https://own.invalid';

/** What of it spends, writes or starts something: not even a manager's notice leads there. */
const starting = ['prompt', 'send', 'suggestion', 'image_url', 'embedding'];

/** What pages of ours act on: no text may lead there with any of it. */
const acting = ['prompt', 'send', 'suggestion', 'open', 'tab', 'image_url', 'embedding', 'new'];

/**
 * Where a link in somebody's text may lead: the web, an e-mail address, our own help pages, or a
 * passage of a knowledge base; to other pages of ours only by their whole address and where nothing
 * in it acts. A link is judged as what a browser makes of it.
 * @param own our own origin; empty: not known
 * @param byManagers the text is the house's own: it leads to any of our pages
 */
export const safeLink = (
  href: string,
  own = '',
  byManagers = false,
): { href: string; internal: boolean } | null => {
  const text = tidy(href);
  if (/^mailto:[^\s<>"']+$/i.test(text)) return { href: text, internal: false };
  const whole = /^https?:\/\//i.test(text);
  if (!whole && !/^\/(?![/\\])/.test(text)) return null;
  const url = URL.canParse(text, own || nowhere) ? new URL(text, own || nowhere) : null;
  if (!url || url.hostname === '') return null;
  if (url.origin !== (own || nowhere)) return whole ? { href: text, internal: false } : null;
  // Passages that an answer rests on are shown, and nothing is done.
  if (/^\/(?:help(?:\/|$)|train\/passage$)/.test(url.pathname))
    return { href: `${url.pathname}${url.search}${url.hash}`, internal: true };
  if (byManagers && !isCall(url.pathname))
    return starting.some((name) => url.searchParams.has(name))
      ? null
      : { href: `${url.pathname}${url.search}${url.hash}`, internal: true };
  const acts = acting.some((name) => url.searchParams.has(name));
  return whole && !acts && !isCall(url.pathname) ? { href: url.href, internal: false } : null;
};

/** Addresses that answer calls: an image or a link that names one would make it. */
const isCall = (pathname: string): boolean => /^\/(?:api|v1)(?:\/|$)/i.test(pathname);

/** Where an image in somebody's text may come from; null: its words are shown instead. */
export const safeImage = (src: string): string | null => {
  const url = tidy(src);
  if (/^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=]+$/i.test(url)) return url;
  if (/^https:\/\//i.test(url)) return isUrl(url) ? url : null;
  // Our own addresses, but none that answers a call.
  if (!/^\/(?![/\\])/.test(url) || !URL.canParse(url, nowhere)) return null;
  const { origin, pathname, search } = new URL(url, nowhere);
  return origin === nowhere && !isCall(pathname) ? `${pathname}${search}` : null;
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
