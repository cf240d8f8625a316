import type { AdminUser } from '#contract/manage-user.ts';
import type { Manager } from '#contract/stats.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Button } from '#src/ui/button.tsx';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { FilterField } from '#src/ui/filter-field.tsx';
import { useDeferredValue, useState } from 'react';
import css from './stats.module.css';

export const rankNames: Readonly<Record<Manager['rank'], string>> = {
  owner: '所有者',
  manager: '管理员',
  auditor: '审计员',
};
const ranks = (['auditor', 'manager', 'owner'] as const).map((value) => ({
  value,
  label: rankNames[value],
}));

/** So many people are offered. */
const few = 6;

/** Makes a manager of somebody who is found by name. */
export const AddManager = () => {
  const [words, setWords] = useState('');
  const query = useDeferredValue(words.trim());
  const [chosen, setChosen] = useState<AdminUser>();
  const [rank, setRank] = useState<Manager['rank']>('manager');
  const { busy, run } = useAct();
  const found = useCall(
    'adminUserList',
    { query, kind: 'account', page: 1, page_size: few },
    { ...keepLast, enabled: query !== '' },
  );
  const people = query === '' ? [] : (found.data?.list.filter((each) => !each.rank) ?? []);
  const add = async ({ user_id, user_name: name }: AdminUser) => {
    const isDone = await run(
      () => api.setManager({ user_id, rank }),
      `${name} 现在是${rankNames[rank]}`,
    );
    if (!isDone) return;
    setChosen(undefined);
    setWords('');
  };
  return (
    <div className={`card ${css.stack}`}>
      <h2>添加管理员</h2>
      <FilterField label="按用户名或名称找人" value={words} onChange={setWords} />
      {people.length > 0 && (
        <div className={css.people} role="radiogroup" aria-label="找到的人">
          {people.map((person) => (
            <button
              key={person.user_id}
              type="button"
              role="radio"
              aria-checked={person.user_id === chosen?.user_id}
              onClick={() => setChosen(person)}
            >
              <Avatar name={person.user_name} src={person.avatar} size={28} />
              <span>{person.user_name}</span>
              <small>{person.account}</small>
            </button>
          ))}
        </div>
      )}
      {query !== '' && found.data && people.length === 0 && (
        <p className="field-hint">没有找到还不是管理员的“{query}”</p>
      )}
      <ChipChoice label="级别" value={rank} choices={ranks} onChange={setRank} />
      <p className="field-hint">审计员只能查看；所有者还可以添加、撤下管理员</p>
      <Button
        kind="primary"
        busy={busy}
        disabled={!chosen}
        onClick={() => chosen && void add(chosen)}
      >
        {chosen ? `添加“${chosen.user_name}”` : '先找一个人'}
      </Button>
    </div>
  );
};
