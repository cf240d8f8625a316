import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { Form } from '#src/ui/form/form.tsx';
import type { Field } from '#src/ui/form/field.ts';
import { useState } from 'react';
import css from './profile-tab.module.css';

const hours = (to: boolean) =>
  Array.from({ length: 25 }, (_, hour) => ({
    value: String(hour * 60),
    label: `${hour}:00`,
  })).slice(to ? 1 : 0, to ? 25 : 24);
const code: Field = {
  name: 'code',
  label: '监护人的密码',
  kind: 'password',
  required: true,
  min: 4,
  max: 12,
  hint: '4 到 12 位数字，不要告诉孩子；一小时最多试 5 次',
};
const rules: readonly Field[] = [
  { name: 'from', label: '从', kind: 'choice', required: true, options: hours(false) },
  { name: 'to', label: '到', kind: 'choice', required: true, options: hours(true) },
  {
    name: 'minutes',
    label: '每天最多',
    kind: 'number',
    unit: '分钟',
    min: 1,
    max: 1440,
    required: true,
  },
];

/** 未成年人模式 of this account, where the operator offers it. */
export const MinorPart = () => {
  const { data } = useCall('minorState', {});
  const [saves, setSaves] = useState(0);
  if (!data?.offered) return null;
  const { on, from, to, minutes, used } = data;
  return (
    <section className={`card ${css.part}`}>
      <h2>未成年人模式</h2>
      <p>
        {on
          ? `已打开。今天用了 ${used} 分钟，共 ${minutes} 分钟。改时段、时长或关闭，都要监护人的密码。`
          : '由监护人设一个密码打开。打开后只能在选定的时段使用，每天有时长，不能付款，不能和别人来往或公开内容（已公开的变为私有），不能用 API-KEY，检查更严；这个账号在哪台设备上都一样。'}
      </p>
      <Form
        // What was changed is read anew a moment after it.
        key={`rules ${saves} ${from} ${to} ${minutes}`}
        fields={[...rules, code]}
        initial={{ from: String(from), to: String(to), minutes }}
        submit={on ? '修改' : '打开未成年人模式'}
        onSubmit={async (values) => {
          await api.startMinor(
            {
              code: String(values['code']),
              from: Number(values['from']),
              to: Number(values['to']),
              minutes: Number(values['minutes']),
            },
            { quiet: true },
          );
          setSaves(saves + 1);
          toast(on ? '已修改' : '未成年人模式已打开', 'success');
        }}
      />
      {on && (
        <Form
          key={`end ${saves}`}
          fields={[code]}
          initial={{}}
          submit="关闭未成年人模式"
          onSubmit={async (values) => {
            await api.endMinor({ code: String(values['code']) }, { quiet: true });
            setSaves(saves + 1);
            toast('未成年人模式已关闭', 'success');
          }}
        />
      )}
    </section>
  );
};
