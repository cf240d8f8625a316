/** From 750 px there is a side menu; below, a bottom bar (document 1 §2). */
export const wideEnoughForMenu = '(min-width: 750px)';
/** From 1680 px there are three columns. */
export const wideEnoughForRecents = '(min-width: 1680px)';
