import { pino } from 'pino';
import { joinEmbedded } from '#server/db/embedded.ts';
import { scratchFolder, startScratch } from './scratch.ts';
import { makeTemplate } from './server.ts';

/**
 * One PostgreSQL for all test files of a run; each server in them gets a database of its own, a copy
 * of what the shipped server makes of an empty one. The global setup of vitest and of Playwright.
 */
export default async function setUp(): Promise<() => Promise<void>> {
  if (process.env['TEST_CLUSTER_URL']) return async () => {};
  const removeScratch = startScratch();
  const cluster = await joinEmbedded(scratchFolder('cluster'), pino({ level: 'warn' }));
  const end = async () => {
    await cluster.leave();
    removeScratch();
  };
  process.env['TEST_CLUSTER_URL'] = cluster.connectionString;
  try {
    await makeTemplate();
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}
