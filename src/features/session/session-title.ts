import type { Session } from '#contract/session.ts';

export const sessionTitle = (session: Pick<Session, 'prompt'>): string =>
  session.prompt || '新会话';
