import { SwitchField } from '#src/ui/switch-field.tsx';
import { useAct } from '#src/platform/use-act.ts';
import { toast } from '#src/platform/toast.ts';
import {
  lookAtPermission,
  turnOff,
  turnOn,
  useNotifyState,
  type NotifyState,
} from '#src/platform/waits-permission.ts';
import { useEffect } from 'react';
import css from './account.module.css';

const hints: Record<NotifyState, string> = {
  on: '回复写好、图片和视频做好时，离开页面也会收到通知',
  off: '打开后，回复写好、图片和视频做好时，离开页面也会收到通知',
  unasked: '打开后，回复写好、图片和视频做好时，离开页面也会收到通知',
  denied: '浏览器里关掉了本站的通知：请先在浏览器的网站设置里允许',
  install: '在 iPhone 和 iPad 上，先用 Safari 的“添加到主屏幕”安装鹊桥，从主屏幕打开后再来这里',
  unsupported: '这个浏览器不支持通知',
};

/** The switch for notifications, which says how it truly stands with this browser. */
export const NotifySettings = () => {
  const state = useNotifyState();
  // The switch shows what holds here; the server drops what it no longer reaches.
  const { busy, run } = useAct(() => undefined);
  useEffect(() => {
    const look = () => void lookAtPermission();
    look();
    // People come back from the browser's own settings.
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, []);
  const change = (on: boolean) =>
    run(async () => {
      if (!on) await turnOff();
      else if ((await turnOn()) === 'denied') toast('浏览器没有允许通知');
    });
  return (
    <section className={`card ${css.settingsGroup}`}>
      <h2>通知</h2>
      <SwitchField
        label="写好时通知我"
        hint={hints[state]}
        checked={state === 'on'}
        disabled={busy || state === 'denied' || state === 'install' || state === 'unsupported'}
        onChange={(on) => void change(on)}
      />
    </section>
  );
};
