import type { CallLine } from './call-table.ts';

/**
 * Where those calls go that come with their screens. Empty where nothing was built: the whole table
 * has them then. At build scripts/call-table.ts puts their lines in this module's place.
 */
export const lateCallTable: Readonly<Record<string, CallLine>> = {};
