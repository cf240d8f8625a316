import { busyStore } from '#src/platform/busy.ts';
import {
  install,
  isGoodMoment,
  noteRefusal,
  useInstallWay,
  type InstallWay,
} from '#src/platform/pwa-install.ts';
import { takeUpdate, useUpdateReady } from '#src/platform/pwa.ts';
import { useStore } from '#src/platform/store.ts';
import { Button } from '#src/ui/button.tsx';
import { InstallGuide } from '#src/widgets/install/install-guide.tsx';
import { toast } from '#src/platform/toast.ts';
import { answerOffer, useOfferedKind } from '#src/platform/waits-permission.ts';
import type { WaitKind } from '#contract/wait.ts';
import { useEffect, useState } from 'react';
import css from './offers.module.css';

/** Who has typed within this time is typing, ms. */
const typing = 5_000;
/** An app that was just opened offers nothing yet, ms. */
const settle = 8_000;

/** Whether a person can be spoken to: not typing, nothing being answered or sent, and settled. */
const usePeace = (): boolean => {
  const { replies, uploads } = useStore(busyStore);
  const [quiet, setQuiet] = useState(false);
  useEffect(() => {
    let timer = setTimeout(() => setQuiet(true), settle);
    const onInput = () => {
      setQuiet(false);
      clearTimeout(timer);
      timer = setTimeout(() => setQuiet(true), typing);
    };
    document.addEventListener('input', onInput, { capture: true });
    return () => {
      clearTimeout(timer);
      document.removeEventListener('input', onInput, { capture: true });
    };
  }, []);
  return quiet && replies === 0 && uploads === 0;
};

const Bar = ({
  title,
  text,
  yes,
  no,
  busy = false,
  onYes,
  onNo,
}: {
  title: string;
  text: string;
  yes: string;
  no: string;
  busy?: boolean;
  onYes: () => void;
  onNo: () => void;
}) => (
  <section className={css.offer} aria-label={title}>
    <img src="/icon.svg" alt="" width={36} height={36} />
    <p role="status">
      <strong>{title}</strong>
      <span>{text}</span>
    </p>
    <div className={css.offerActs}>
      <Button kind="ghost" size="small" onClick={onNo}>
        {no}
      </Button>
      <Button kind="primary" size="small" busy={busy} onClick={onYes}>
        {yes}
      </Button>
    </div>
  </section>
);

const installTexts: Record<InstallWay, string> = {
  prompt: '从主屏幕打开，全屏、更快，没有网络也能看',
  ios: '从主屏幕打开，全屏、更快，没有网络也能看',
  none: '',
};

const notifyTitles: Record<WaitKind, string> = {
  answer: '回复写好时通知我？',
  job: '任务做好时通知我？',
  order: '付款到账时通知我？',
  news: '有人回复我时通知我？',
  membership: '会员到期前通知我？',
  invoice: '发票开好时通知我？',
};

/** While something takes its time: whoever waits for it may want to do something else. */
const NotifyOffer = ({ kind }: { kind: WaitKind }) => {
  const [busy, setBusy] = useState(false);
  const accept = async () => {
    setBusy(true);
    const state = await answerOffer(true);
    if (state === 'on') toast('好的，到时候会通知您', 'success');
    else if (state === 'denied') toast('浏览器没有允许通知，之后可以在浏览器的网站设置里打开');
  };
  return (
    <Bar
      title={notifyTitles[kind]}
      text="离开页面也能知道，可以在设置里关掉"
      yes="通知我"
      no="不用了"
      busy={busy}
      onYes={() => void accept()}
      onNo={() => void answerOffer(false)}
    />
  );
};

/**
 * What the app offers by itself, one at a time and only in peace: a new version that is ready, and
 * at a good moment to install, or to be told of what has ended. Once there it stays until it is answered; both can also be had in 我的.
 */
export const Offers = () => {
  const update = useUpdateReady();
  const way = useInstallWay();
  const peace = usePeace();
  const [shown, setShown] = useState<'update' | 'install' | null>(null);
  const [refused, setRefused] = useState(false);
  const [taking, setTaking] = useState(false);
  const [guide, setGuide] = useState(false);
  const offered = useOfferedKind();

  // It comes up when it is quiet, and stays when somebody then begins to write.
  if (peace && shown === null && !refused) {
    if (update) setShown('update');
    else if (way !== 'none' && matchMedia('(pointer: coarse)').matches && isGoodMoment())
      setShown('install');
  }

  const refuse = () => {
    if (shown === 'install') noteRefusal();
    setRefused(true);
    setShown(null);
  };
  const guideSheet = <InstallGuide open={guide} onClose={() => setGuide(false)} />;
  if (shown === 'update')
    return (
      <Bar
        title="新版本已就绪"
        text={peace || !taking ? '写了一半的内容会留着' : '等这里忙完就更新'}
        yes="更新"
        no="以后再说"
        busy={taking}
        onYes={() => {
          setTaking(true);
          void takeUpdate();
        }}
        onNo={refuse}
      />
    );
  if (shown === 'install' && way !== 'none')
    return (
      <Bar
        title="把鹊桥放到主屏幕"
        text={installTexts[way]}
        yes={way === 'prompt' ? '安装' : '怎么放'}
        no="不用了"
        onYes={() => {
          setShown(null);
          if (way === 'ios') {
            noteRefusal();
            setRefused(true);
            setGuide(true);
          } else
            void install().then((accepted) => {
              if (!accepted) noteRefusal();
              return setRefused(true);
            });
        }}
        onNo={refuse}
      />
    );
  if (shown === null && offered !== null) return <NotifyOffer kind={offered} />;
  return guideSheet;
};
