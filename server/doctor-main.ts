import { StartupError } from './db/startup-error.ts';
import type { Finding } from './check-address.ts';
import { examine, unreadable } from './doctor.ts';
import { createLog } from './http/log.ts';
import { readSettings } from './settings.ts';
import { say } from './stopping.ts';

const marks: Record<Finding['state'], string> = { well: '✓', note: '!', broken: '✗' };

const tell = ({ area, state, text, advice }: Finding): void =>
  say(`${marks[state]} ${area}：${text}${advice === undefined ? '' : `\n    → ${advice}`}`);

/** `npm run doctor`: looks at the configuration; exit code 1 when something cannot work. */
let failed = 0;
try {
  const settings = readSettings(process.env);
  for await (const finding of examine(settings, createLog({ ...settings, logLevel: 'silent' }))) {
    tell(finding);
    if (finding.state === 'broken') failed += 1;
  }
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  tell(unreadable(error));
  failed += 1;
}
say(failed === 0 ? '没有发现问题。' : `有 ${failed} 处要改。`);
process.exit(failed === 0 ? 0 : 1);
