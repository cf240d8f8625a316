import type { SetupState } from '#contract/setup.ts';
import { LocalShelf } from '#src/features/model/local-shelf.tsx';
import { Presets } from '#src/features/model/presets.tsx';
import {
  chats,
  draftOf,
  ServiceForm,
  type ServiceDraft,
} from '#src/features/model/service-form.tsx';
import { useCall } from '#src/platform/call-query.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useState } from 'react';
import css from './setup.module.css';

type Way = 'local' | 'key';

/** What is long took its place: one sees where one is. */
const intoView = (element: HTMLElement | null): void => element?.scrollIntoView();

const ByKey = ({ onSaved }: { onSaved: () => void }) => {
  const [draft, setDraft] = useState<ServiceDraft>();
  const presets = useCall('channelPresets', {});
  if (presets.isError) return <QueryFailed query={presets} />;
  if (!presets.data) return <Skeleton lines={4} />;
  if (!draft)
    return (
      <Presets
        list={presets.data.list.filter(({ kind }) => chats(kind))}
        onChoose={(preset) => setDraft(draftOf(preset))}
      />
    );
  return (
    <div className={css.sight} ref={intoView}>
      <ServiceForm
        draft={draft}
        askedNext
        onSaved={() => {
          setDraft(undefined);
          onSaved();
        }}
      />
      <div className={css.acts}>
        <Button kind="ghost" onClick={() => setDraft(undefined)}>
          换一个服务
        </Button>
      </div>
    </div>
  );
};

/** What answers: a model of this machine, a service with a key, or what was found running here. */
export const SetupAnswer = ({
  services,
  onChange,
}: {
  services: SetupState['services'];
  onChange: () => void;
}) => {
  const [way, setWay] = useState<Way>('local');
  const [saves, setSaves] = useState(0);
  return (
    <>
      {services.length > 0 && (
        <div key={saves} className={css.sight} ref={saves > 0 ? intoView : undefined}>
          <p>已经能回答的：{services.map(({ label }) => label).join('、')}。</p>
          <div className={css.acts}>
            <ButtonLink kind="primary" to="/" search={{ new: 1 }}>
              问一句试试
            </ButtonLink>
            <ButtonLink to="/manager/model">看看模型与价格</ButtonLink>
          </div>
        </div>
      )}
      <p>鹊桥自带一个不联网的内置助手，它只会查帮助、算数、看时间。要真正聊天，选一种：</p>
      <ChipChoice<Way>
        label="用什么回答"
        value={way}
        choices={[
          { value: 'local', label: '本机模型' },
          { value: 'key', label: '用密钥接入' },
        ]}
        onChange={setWay}
      />
      {way === 'local' && <LocalShelf first onAnswers={onChange} />}
      {way === 'key' && (
        <ByKey
          onSaved={() => {
            setSaves(saves + 1);
            onChange();
          }}
        />
      )}
    </>
  );
};
