import pg from 'pg';
import { pino } from 'pino';
import { migrate } from '#server/db/migrate.ts';
import { grow } from './lib/grown.ts';

/**
 * Fills an empty database of its own with many short messages, 1 KB of disk each, for
 * calls-on-a-million.ts: npx tsx tests/load/growth.ts postgres://…/grown 50000000
 */
const [connectionString, messages] = process.argv.slice(2);
if (!connectionString || !messages) throw new Error('an address and a number of messages');
const client = new pg.Client({ connectionString });
await client.connect();
await migrate(client, pino({ level: 'warn' }));
await client.end();
await grow(connectionString, Number(messages));
