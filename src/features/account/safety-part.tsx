import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import type { SafetyCase } from '#contract/safety.ts';
import { useState } from 'react';
import css from './profile-tab.module.css';

const caseWords = {
  text: { in: '提问', out: '回复' },
  picture: { in: '上传的图', out: '画的图' },
} as const;

const stateOf = ({ state, appeal }: SafetyCase): string => {
  if (state === 'allowed') return '看过，没有问题';
  if (state === 'confirmed') return '看过，确认违规';
  return appeal === '' ? '等人看' : '申诉在等人看';
};

/** What of one's own did not pass a check, and the way to say that it should have. */
export const SafetyPart = () => {
  const { data } = useCall('ownSafetyCases', {});
  const [appealed, setAppealed] = useState<number>();
  if (!data || data.list.length === 0) return null;
  return (
    <section className={`card ${css.part}`}>
      <h2>没有通过检查的内容</h2>
      <ul className={css.devices}>
        {data.list.map((each) => (
          <li key={each.id}>
            <div>
              <b>
                {caseWords[each.kind][each.way]}
                {each.reason !== '' && `：${each.reason}`}
              </b>
              <span>
                {dateTime(each.created_at)}，{stateOf(each)}
              </span>
            </div>
            {each.appeal === '' && each.state !== 'allowed' && (
              <Button size="small" onClick={() => setAppealed(each.id)}>
                申诉
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Sheet open={appealed !== undefined} onClose={() => setAppealed(undefined)} title="申诉">
        {appealed !== undefined && (
          <Form
            fields={[
              {
                name: 'appeal',
                label: '为什么没有问题',
                kind: 'long',
                lines: 3,
                min: 2,
                max: 500,
                required: true,
                hint: '会有人再看一次；每一条只能申诉一次',
              },
            ]}
            submit="申诉"
            onSubmit={async (values) => {
              await api.appealSafetyCase(
                { id: appealed, appeal: String(values['appeal'] ?? '') },
                { quiet: true },
              );
              setAppealed(undefined);
              toast('已申诉', 'success');
            }}
          />
        )}
      </Sheet>
    </section>
  );
};
