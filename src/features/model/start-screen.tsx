import { useCall } from '#src/platform/call-query.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { AnswersNow } from './answers-now.tsx';
import { ConnectChat } from './connect-chat.tsx';
import css from './manage-model.module.css';
import { Presets } from './presets.tsx';
import { answers, draftOf, type Preset } from './service-draft.ts';
import { type Saved, ServiceForm } from './service-form.tsx';

/** A service of any kind is chosen, and connected by its key. */
const Choose = ({
  presets,
  onChoose,
  onSaved,
}: {
  presets: readonly Preset[];
  /** One that does not answer questions has a form of its own. */
  onChoose: (preset: Preset) => void;
  onSaved: Saved;
}) => (
  <>
    <p>选一家，贴上它的密钥，大家就能和它的模型聊天了。</p>
    <section className={`card ${css.start}`}>
      <ConnectChat presets={presets.filter(answers)} onSaved={onSaved} />
    </section>
    <p>
      没有密钥也可以：
      <Link to="/manager/model" search={{ tab: 'local' }}>
        下载一个本机模型
      </Link>
      ，在这台机器上运行，不花钱，话不出门。
    </p>
    <h2>画图、视频、语音、联网搜索</h2>
    <Presets list={presets.filter((preset) => !answers(preset))} onChoose={onChoose} />
  </>
);

/** From a fresh start to a model that answers. */
export const StartScreen = () => {
  const [preset, setPreset] = useState<Preset>();
  /** What the service that was connected said; undefined: none was. */
  const [said, setSaid] = useState<string>();
  const presets = useCall('channelPresets', {});
  return (
    <ManagePage title="接入模型服务">
      <div className={css.start}>
        {presets.isError && <QueryFailed query={presets} />}
        {presets.isPending && <Skeleton lines={6} />}
        {said !== undefined ? (
          <>
            <p>接好了，马上能用。{said}</p>
            {!preset && <AnswersNow />}
            <div className={css.acts}>
              {preset && <ButtonLink to="/manager/model">看看模型与价格</ButtonLink>}
              <Button
                kind="ghost"
                onClick={() => {
                  setPreset(undefined);
                  setSaid(undefined);
                }}
              >
                再接一个
              </Button>
            </div>
          </>
        ) : preset ? (
          <>
            <section className={`card ${css.start}`}>
              <h2>{preset.label}</h2>
              <ServiceForm draft={draftOf(preset)} onSaved={setSaid} />
            </section>
            <div>
              <Button kind="ghost" onClick={() => setPreset(undefined)}>
                换一个服务
              </Button>
            </div>
          </>
        ) : (
          presets.data && (
            <Choose presets={presets.data.list} onChoose={setPreset} onSaved={setSaid} />
          )
        )}
      </div>
    </ManagePage>
  );
};
