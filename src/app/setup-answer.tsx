import type { SetupState } from '#contract/setup.ts';
import { AnswersNow } from '#src/features/model/answers-now.tsx';
import { ConnectChat } from '#src/features/model/connect-chat.tsx';
import { LocalShelf } from '#src/features/model/local-shelf.tsx';
import { answers } from '#src/features/model/service-draft.ts';
import type { Saved } from '#src/features/model/service-form.tsx';
import { useCall } from '#src/platform/call-query.ts';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useState } from 'react';
import css from './setup.module.css';

type Way = 'local' | 'key';

/** What is long took its place: one sees where one is. */
const intoView = (element: HTMLElement | null): void => element?.scrollIntoView();

const ByKey = ({ onSaved }: { onSaved: Saved }) => {
  const presets = useCall('channelPresets', {});
  if (presets.isError) return <QueryFailed query={presets} />;
  if (!presets.data) return <Skeleton lines={4} />;
  return <ConnectChat presets={presets.data.list.filter(answers)} onSaved={onSaved} />;
};

/** What answers: a model of this machine, a service with a key, or what was found running here. */
export const SetupAnswer = ({
  services,
  onChange,
}: {
  services: SetupState['services'];
  onChange: () => void;
}) => {
  const [way, setWay] = useState<Way | undefined>(services.length > 0 ? undefined : 'local');
  /** What the services that were connected here said. */
  const [said, setSaid] = useState<readonly string[]>([]);
  const names = services.map(({ label }) => label).join('、');
  return (
    <>
      {names !== '' || said.length > 0 ? (
        <div key={said.length} className={css.sight} ref={said.length > 0 ? intoView : undefined}>
          <p>
            接好了{names && `：${names}`}。{said.at(-1)}
          </p>
          <AnswersNow />
          <p>还可以再接：</p>
        </div>
      ) : (
        <p>鹊桥自带的内置助手不联网，只会查帮助、算数、看时间。要真正聊天，选一种：</p>
      )}
      <ChipChoice<Way>
        label="用什么回答"
        value={way}
        choices={[
          { value: 'local', label: '下载本机模型' },
          { value: 'key', label: '我有密钥' },
        ]}
        onChange={setWay}
      />
      {way === 'local' && <LocalShelf first onAnswers={onChange} />}
      {way === 'key' && (
        <ByKey
          onSaved={(words) => {
            setWay(undefined);
            setSaid([...said, words]);
            onChange();
          }}
        />
      )}
    </>
  );
};
