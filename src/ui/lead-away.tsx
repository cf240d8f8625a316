import { Navigate } from '@tanstack/react-router';
import { memo } from 'react';

/**
 * What leads to another page instead of being shown. The router leads on anew with each new set of
 * props, and whoever hears of the address is drawn again by that: these are drawn once.
 */
export const ToMissing = memo(function ToMissing() {
  return <Navigate to="/404" replace />;
});

/** @param uuid of the session that was refused */
export const ToError = memo(function ToError({ code, uuid }: { code: number; uuid: string }) {
  return <Navigate to="/error" search={{ code: String(code), uuid }} replace />;
});
