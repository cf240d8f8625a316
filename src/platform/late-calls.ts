import { callTable } from '#common/call-table.ts';
import { lateCallTable } from '#common/late-call-table.ts';
import type { PlainCallName } from '#contract/calls.ts';
import { api } from './api.ts';
import { caller, serverApi } from './server-api.ts';

/**
 * Adds the calls that the first page load does without (scripts/call-table.ts names them). Whatever
 * makes one of them imports this module.
 */
for (const [key, line] of Object.entries(lateCallTable)) {
  const name = key as PlainCallName;
  callTable[name] = line;
  Object.assign(serverApi, { [name]: caller(name) });
  Object.assign(api, { [name]: caller(name) });
}
