import { useCall } from '#src/platform/call-query.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { Steps } from '#src/ui/steps/steps.tsx';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import css from './manage-model.module.css';
import { Presets } from './presets.tsx';
import { chats, draftOf, ServiceForm, type ServiceDraft } from './service-form.tsx';

const steps = ['选择服务', '填写密钥', '开始使用'];

/** Three steps from a fresh start to a model that answers. */
export const StartScreen = () => {
  const [draft, setDraft] = useState<ServiceDraft>();
  const [done, setDone] = useState(false);
  const presets = useCall('channelPresets', {});
  const step = done ? 2 : draft ? 1 : 0;
  return (
    <ManagePage title="接入模型服务">
      <div className={css.start}>
        <Steps steps={steps} current={step} />
        {presets.isError && <QueryFailed query={presets} />}
        {presets.isPending && <Skeleton lines={6} />}
        {step === 0 && presets.data && (
          <>
            <p>
              鹊桥自带一个不联网的内置助手。接入一个模型服务之后，大家就能和真正的大模型聊天了。
            </p>
            <Presets
              list={presets.data.list.filter(({ kind }) => chats(kind))}
              onChoose={(preset) => setDraft(draftOf(preset))}
            />
            <h2>画图、视频、联网搜索</h2>
            <Presets
              list={presets.data.list.filter(({ kind }) => !chats(kind))}
              onChoose={(preset) => setDraft(draftOf(preset))}
            />
            <p>
              没有密钥也可以：
              <Link to="/manager/model" search={{ tab: 'local' }}>
                下载一个本机模型
              </Link>
              ，在这台机器上运行，不花钱，话不出门。
            </p>
            <div>
              <ButtonLink kind="ghost" to="/manager/default">
                以后再说
              </ButtonLink>
            </div>
          </>
        )}
        {step === 1 && draft && (
          <>
            <ServiceForm draft={draft} askedNext onSaved={() => setDone(true)} />
            <div>
              <Button kind="ghost" onClick={() => setDraft(undefined)}>
                换一个服务
              </Button>
            </div>
          </>
        )}
        {step === 2 && (
          <div className={css.done}>
            <p>接好了。现在就可以选它的模型，问一句试试。</p>
            <ButtonLink kind="primary" to="/" search={{ new: 1 }}>
              新建会话
            </ButtonLink>
            <ButtonLink to="/manager/model">看看模型与价格</ButtonLink>
          </div>
        )}
      </div>
    </ManagePage>
  );
};
