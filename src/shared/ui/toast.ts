export type ToastKind = 'info' | 'success' | 'error';

/** How long a toast stays, ms (document 1 §8). */
const stay = 5_000;
const most = 5;

let host: HTMLElement | undefined;

const makeHost = (): HTMLElement => {
  const element = document.createElement('div');
  element.className = 'toasts';
  element.setAttribute('role', 'region');
  element.setAttribute('aria-label', '通知');
  document.body.append(element);
  return element;
};

/** A short message for 5 seconds; a tap takes it away. The same text is not shown twice at once. */
export const toast = (text: string, kind: ToastKind = 'info') => {
  host ??= makeHost();
  for (const shown of host.querySelectorAll('.toast'))
    if (shown.textContent === text) shown.remove();
  const item = document.createElement('button');
  item.type = 'button';
  item.className = `toast toast-${kind}`;
  const words = document.createElement('span');
  words.setAttribute('role', kind === 'error' ? 'alert' : 'status');
  item.append(words);
  const close = () => item.remove();
  item.addEventListener('click', close);
  setTimeout(close, stay);
  host.append(item);
  // A live region speaks what is put into it after it exists.
  words.textContent = text;
  while (host.children.length > most) host.firstElementChild?.remove();
};
