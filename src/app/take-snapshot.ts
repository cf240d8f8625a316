import { accountOf } from '#src/platform/account-of.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { keepSnapshot, snapshotAt, type SnapshotPlace } from '#src/platform/snapshot.ts';

/**
 * Takes a snapshot of the screen now and then: its HTML as React made it, without what does not
 * outlive the page. src/app/boot.ts shows it at the next start until the screen itself is there.
 */

/** How often the screen is looked at, ms. */
const pace = 4_000;
/** Longest snapshot, in characters. */
const most = 150_000;

/** What is no snapshot: it plays, floats above the screen, or names something in memory. */
const gone =
  '.skip, canvas, video, audio, iframe, dialog, [src^="blob:"], [role="dialog"], [role="alert"]';

const rowsOf = (list: Element) => [
  ...list.querySelectorAll<HTMLElement>('[data-testid="virtuoso-item-list"] > *, [data-tail] > *'),
];

/** Null: this is no moment for one; '': nothing of this screen may be kept. */
const draw = (place: SnapshotPlace): string | null => {
  const shell = document.querySelector<HTMLElement>('#root > .shell');
  if (!shell || document.querySelector('#root')?.hasAttribute('inert')) return null;
  if (shell.querySelector('[aria-busy="true"], [data-writing]')) return null;
  const list = shell.querySelector('[role="log"]');
  if (place === 'chat') {
    // A temporary conversation leaves nothing behind.
    if (shell.querySelector('[data-temporary]')) return '';
    if (!list || list.scrollHeight - list.clientHeight - list.scrollTop > 100) return null;
  } else if (!shell.querySelector('[data-sessions]')) return null;

  const copy = shell.cloneNode(true) as HTMLElement;
  const copied = list && copy.querySelector('[role="log"]');
  if (list && copied) {
    const { top } = list.getBoundingClientRect();
    const rows = rowsOf(copied);
    for (const [at, row] of rowsOf(list).entries())
      if (row.getBoundingClientRect().bottom < top) rows[at]?.remove();
    const items = copied.querySelector<HTMLElement>('[data-testid="virtuoso-item-list"]');
    if (items) items.style.paddingTop = '0';
  }
  const menu = shell.querySelector('.shell-menu');
  if (menu && getComputedStyle(menu).display === 'none')
    copy.querySelector('.shell-menu')?.remove();
  for (const each of copy.querySelectorAll(gone)) each.remove();
  for (const each of copy.querySelectorAll('textarea')) each.textContent = '';
  return copy.outerHTML;
};

let last = '';
const take = () => {
  const at = snapshotAt(location);
  const { token } = authStore.get();
  // Who has just left has nothing to come back to.
  if (!at || (at[0] === 'chat' && token === '')) return;
  const [place, address] = at;
  const html = draw(place);
  if (html === null) return;
  const styles = [...document.querySelectorAll('link[rel="stylesheet"]')].map(
    (link) => link.getAttribute('href') ?? '',
  );
  const snapshot = {
    account: accountOf(token),
    address,
    styles,
    html: html.length > most ? '' : html,
  };
  const same = JSON.stringify(snapshot);
  if (same === last) return;
  last = same;
  keepSnapshot(place, snapshot);
};

const takeQuietly = () => {
  if (document.visibilityState === 'hidden') return;
  if (typeof requestIdleCallback === 'function') requestIdleCallback(take, { timeout: pace });
  else take();
};

export const startSnapshots = (): void => {
  takeQuietly();
  setInterval(takeQuietly, pace);
  // A page that is put away may not come back.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') take();
  });
};
