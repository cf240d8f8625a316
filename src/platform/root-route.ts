import { createRootRoute } from '@tanstack/react-router';

/** Around every screen; the shell is put into it by the app (src/app/routes.tsx). */
export const root = createRootRoute();

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** This page led here to send what the address carries: never true of a link from outside. */
    sends?: boolean;
    /** The entry before is the same screen without its large image. */
    viewing?: boolean;
    /** The number of the order that was paid just now: its receipt is shown. */
    paid?: string;
  }
}
