export type ToastKind = 'info' | 'success' | 'error';

/** How long a toast stays, ms: what went wrong is read (document 1 §8), the rest is only noticed. */
const stay = { error: 5_000, success: 2_000, info: 2_500 } as const;
/** One that leads somewhere stays until it can be reached in peace, ms. */
const stayWithAct = 20_000;
const most = 5;
/** As long as a toast goes along to the page that its cause leads to, ms. */
const travels = 1_000;

let goTo: (href: string) => void = () => undefined;
/** Tells how a toast leads to another screen; the router is made after this module. */
export const onToastLeads = (go: (href: string) => void) => {
  goTo = go;
};

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
 * `code`: of what went wrong; a tap on the words behind it leads to the help on that.
 */
export const toast = (
  text: string,
  kind: ToastKind = 'info',
  act?: { label: string; run: () => void },
  code = 0,
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
  // Business codes alone: what a status says needs no page.
  const help = document.createElement('i');
  help.textContent = '怎么办';
  if (code > 999) item.append(help);
  const close = () => item.remove();
  item.addEventListener('click', ({ target, detail }) => {
    close();
    act?.run();
    // The keys press the whole of it.
    if (code > 999 && (target === help || detail === 0)) goTo(`/help?code=${code}`);
  });
  setTimeout(close, act ? stayWithAct : stay[kind]);
  host.append(item);
  // A live region speaks what is put into it after it exists.
  words.textContent = text;
  while (host.children.length > most) host.firstElementChild?.remove();
};
