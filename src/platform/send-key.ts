/**
 * Whether a key in a text box sends: Enter, or Ctrl+Enter alone when the person chose Enter for a
 * new line. The Enter that ends an input method's composition (Safari: keyCode 229) never does.
 */
export const isSendKey = (event: KeyboardEvent, enterMakesLine: boolean): boolean => {
  if (event.key !== 'Enter' || event.isComposing || event.keyCode === 229) return false;
  if (event.ctrlKey || event.metaKey) return true;
  return !enterMakesLine && !event.shiftKey && !event.altKey;
};
