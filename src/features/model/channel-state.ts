import type { AdminChannel } from '#contract/manage-model.ts';

type State = Pick<
  AdminChannel,
  'enabled' | 'source' | 'successes' | 'failures' | 'last_success_at' | 'last_failure_at'
>;

/** Of so many answers or more, this share of errors is no longer 正常. */
const ofNote = { answers: 10, errors: 0.1 };

/** How a channel does, as its list says it. */
export const channelState = (row: State): string => {
  if (!row.enabled) return '已停用';
  if (row.source === 'built-in') return '内置';
  if (row.last_failure_at && (!row.last_success_at || row.last_failure_at > row.last_success_at))
    return '最近出错';
  const answers = row.successes + row.failures;
  if (answers >= ofNote.answers && row.failures / answers >= ofNote.errors)
    return `${Math.round((row.failures / answers) * 100)}% 出错`;
  return row.last_success_at ? '正常' : '还没有用过';
};
