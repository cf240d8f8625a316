/** The box of the first HTML (index.html), in which people write before the script runs. */
let box = document.querySelector<HTMLTextAreaElement>('#first-box');
let focused = box !== null && box === document.activeElement;
box?.addEventListener('focus', () => {
  focused = true;
});
box?.addEventListener('blur', ({ target }) => {
  // Being taken out of the page is not being left.
  setTimeout(() => {
    if (target instanceof Node && target.isConnected) focused = false;
  });
});

/** What was written there to the last key, and whether its writer is still at it; given once. */
export const takeFirstBox = (): { text: string; focused: boolean } => {
  const taken = { text: box?.value ?? '', focused };
  box = null;
  focused = false;
  return taken;
};
