/** The box of the first HTML (index.html), in which people write before the script runs. */
let box = document.querySelector<HTMLTextAreaElement>('#first-box');

export const firstBoxHasFocus = (): boolean => box !== null && box === document.activeElement;

/** What was written there, to the last key; given once, after the page has taken its place. */
export const takeFirstBox = (): string => {
  const text = box?.value ?? '';
  box = null;
  return text;
};
