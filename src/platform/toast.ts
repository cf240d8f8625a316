export type ToastKind = 'info' | 'success' | 'error';

/** How long a toast stays, ms: what went wrong is read (document 1 §8), the rest is only noticed. */
const stay = { error: 5_000, success: 2_000, info: 2_500 } as const;
/** One that leads somewhere stays until it can be reached in peace, ms. */
const stayWithAct = 20_000;
const most = 5;
/** As long as a toast goes along to the page that its cause leads to, ms. */
const travels = 1_000;

let host: HTMLElement | undefined;

const makeHost = (): HTMLElement => {
  const element = document.createElement('div');
  element.className = 'toasts';
  element.setAttribute('role', 'region');
  element.setAttribute('aria-label', '通知');
  document.body.append(element);
  return element;
};

/** Takes away what was said of the page that is left; but not what leads somewhere, or was just said. */
export const leaveToasts = () => {
  for (const shown of host?.querySelectorAll<HTMLElement>('.toast') ?? [])
    if (!shown.querySelector('b') && performance.now() - Number(shown.dataset['at']) > travels)
      shown.remove();
};

/**
 * A short message; a tap takes it away. The same text is not shown twice at once.
 * `act`: what a tap does besides, and its name; such a toast stays 20 seconds.
 */
export const toast = (
  text: string,
  kind: ToastKind = 'info',
  act?: { label: string; run: () => void },
) => {
  host ??= makeHost();
  for (const shown of host.querySelectorAll('.toast'))
    // What went well now was refused before, if at all.
    if (
      shown.firstElementChild?.textContent === text ||
      (kind === 'success' && shown.matches('.toast-error'))
    )
      shown.remove();
  const item = document.createElement('button');
  item.type = 'button';
  item.className = `toast toast-${kind}`;
  item.dataset['at'] = String(performance.now());
  const words = document.createElement('span');
  words.setAttribute('role', kind === 'error' ? 'alert' : 'status');
  item.append(words);
  if (act) {
    const label = document.createElement('b');
    label.textContent = act.label;
    item.append(label);
  }
  const close = () => item.remove();
  item.addEventListener('click', () => {
    close();
    act?.run();
  });
  setTimeout(close, act ? stayWithAct : stay[kind]);
  host.append(item);
  // A live region speaks what is put into it after it exists.
  words.textContent = text;
  while (host.children.length > most) host.firstElementChild?.remove();
};
