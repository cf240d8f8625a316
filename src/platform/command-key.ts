/** A key with Ctrl or ⌘ alone, Shift aside, that nothing has taken yet; not over a dialog. */
export const isCommandKey = (event: KeyboardEvent): boolean =>
  !event.defaultPrevented &&
  event.ctrlKey !== event.metaKey &&
  !event.altKey &&
  document.querySelector('#root')?.hasAttribute('inert') !== true;

/** The event by which a button asks for the command palette. */
export const paletteAsked = 'palette';
