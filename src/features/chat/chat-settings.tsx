import { api } from '@/shared/api.ts';
import { ApiError } from '@/shared/api-error.ts';
import { authStore } from '@/shared/auth-store.ts';
import { useSettings } from '@/shared/queries.ts';
import { SliderField } from '@/shared/ui/slider-field.tsx';
import { SwitchField } from '@/shared/ui/switch-field.tsx';
import { toast } from '@/shared/ui/toast.ts';
import type { Settings } from '@contract/auth.ts';
import { codes } from '@contract/errors.ts';
import { limits } from '@contract/limits.ts';
import type { SessionDetail } from '@contract/session.ts';
import { useEffect, useRef, useState } from 'react';

/** A slider is saved when it has come to rest, ms. */
const rest = 400;

/** The settings as they stand on the page: saved ones, with what was just changed over them. */
const useEditedSettings = () => {
  const saved = useSettings();
  const [changed, setChanged] = useState<Settings>({});
  const waiting = useRef<Settings>({});
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  const save = async () => {
    const change = waiting.current;
    waiting.current = {};
    if (Object.keys(change).length === 0) return;
    try {
      const { setting } = await api.saveSettings(change);
      const { user } = authStore.get();
      if (user) authStore.set({ user: { ...user, setting } });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The call has said why; the page shows what is saved.
      setChanged({});
    }
  };
  const saveNow = useRef(save);
  useEffect(() => {
    saveNow.current = save;
  });
  // Closing the panel does not lose the last change.
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      void saveNow.current();
    },
    [],
  );
  const change = (next: Settings) => {
    setChanged((before) => ({ ...before, ...next }));
    waiting.current = { ...waiting.current, ...next };
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void saveNow.current(), rest);
  };
  return { settings: { ...saved, ...changed }, change };
};

const Privacy = ({
  session,
  globallyPrivate,
}: {
  session: SessionDetail;
  globallyPrivate: boolean;
}) => {
  const [busy, setBusy] = useState(false);
  const toggle = async (on: boolean) => {
    setBusy(true);
    try {
      await api.setSession({ session_id: session.uuid, private: on ? 1 : 0 });
      toast('会话状态更改', 'success');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    } finally {
      setBusy(false);
    }
  };
  const reason = session.private_forced
    ? codes.private_forced.text
    : globallyPrivate
      ? ''
      : codes.private_global_off.text;
  return (
    <SwitchField
      label="这个会话设为私有"
      hint={reason || '关闭后，任何人都能在公共频道里看到这个会话'}
      checked={session.private === 1}
      disabled={busy || reason !== ''}
      onChange={(on) => void toggle(on)}
    />
  );
};

/** What an owner sets for this session, and for all of theirs. */
export const ChatSettings = ({ session }: { session: SessionDetail }) => {
  const { settings, change } = useEditedSettings();
  const { defaults } = limits;
  const globallyPrivate = (settings.private_global ?? 1) === 1;
  return (
    <div className="chat-settings">
      <h3>隐私</h3>
      <Privacy session={session} globallyPrivate={globallyPrivate} />
      <SwitchField
        label="默认私有"
        hint="新会话只有自己能看；关闭后新会话都公开"
        checked={globallyPrivate}
        onChange={(on) => change({ private_global: on ? 1 : 0 })}
      />
      <h3>回复</h3>
      <SliderField
        label="随机性"
        hint="小则稳定严谨，大则多变"
        value={settings.temperature ?? defaults.temperature}
        min={1}
        max={20}
        show={(value) => (value / 10).toFixed(1)}
        onChange={(temperature) => change({ temperature })}
      />
      <SliderField
        label="新话题倾向"
        value={settings.presence_penalty ?? defaults.penalty}
        min={0}
        max={10}
        show={(value) => (value / 5).toFixed(1)}
        onChange={(presence_penalty) => change({ presence_penalty })}
      />
      <SliderField
        label="避免重复"
        value={settings.frequency_penalty ?? defaults.penalty}
        min={0}
        max={10}
        show={(value) => (value / 5).toFixed(1)}
        onChange={(frequency_penalty) => change({ frequency_penalty })}
      />
      <SliderField
        label="带上前面的对话"
        hint="每次提问附上最近几轮，越多越费 token"
        value={settings.max_history ?? defaults.max_history}
        min={0}
        max={10}
        show={(value) => (value === 0 ? '不带' : `${value} 轮`)}
        onChange={(max_history) => change({ max_history })}
      />
      <h3>操作</h3>
      <SwitchField
        label="Enter 键换行"
        hint="打开后用 Ctrl + Enter 或发送按钮发送"
        checked={settings.disable_enter === 1}
        onChange={(on) => change({ disable_enter: on ? 1 : 0 })}
      />
      <SwitchField
        label="显示 token 用量"
        checked={settings.show_token_usage === 1}
        onChange={(on) => change({ show_token_usage: on ? 1 : 0 })}
      />
    </div>
  );
};
