import { useHearModels } from '#src/platform/queries.ts';
import { toast } from '#src/platform/toast.ts';
import { useEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { deviceHears } from './device-speech.ts';
import { device, useRecorder } from './use-recorder.ts';
import css from './voice.module.css';

/** While a finger is held on the microphone: records, and gives what was said once it leaves. */
const VoiceHold = ({
  hold,
  onText,
  onNothing,
  onEnd,
}: {
  /** held, away: the finger is there, on the button or slid off; sent, off: it left so. */
  hold: 'held' | 'away' | 'sent' | 'off';
  onText: (text: string) => void;
  /** Nothing hears here. */
  onNothing: () => void;
  onEnd: () => void;
}) => {
  const hearing = useHearModels();
  const own = deviceHears();
  const [first] = hearing.data ?? [];
  const name = own ? device : (first?.name ?? '');
  const recorder = useRecorder(true, name, first?.label, () => undefined);
  const { state, text, seconds, level } = recorder;
  /** How far it is: nothing begun, begun, or the finger has left. */
  const stage = useRef<'new' | 'begun' | 'left'>('new');
  useEffect(() => {
    const { current } = stage;
    if (hold === 'off') {
      recorder.cancel();
      toast('已取消');
      onEnd();
    } else if (current === 'new') {
      if (name === '') {
        if (hearing.isPending) return;
        onNothing();
        onEnd();
        return;
      }
      stage.current = 'begun';
      void recorder.start();
    } else if (state === 'granted') {
      toast('已得到麦克风，请再按住说话');
      onEnd();
    } else if (current === 'begun' && hold === 'sent' && state !== 'ready') {
      stage.current = 'left';
      void recorder.finish();
    } else if (current === 'left' && state === 'ready') {
      recorder.setText('');
      if (text.trim() !== '') onText(text.trim());
      onEnd();
    }
  });
  // It never began: the microphone is not allowed, or broke.
  const alive = useRef(false);
  useEffect(() => {
    if (state !== 'ready') alive.current = true;
    else if (alive.current && stage.current === 'begun') onEnd();
  }, [state, onEnd]);
  const words =
    hold === 'away'
      ? '松开取消'
      : state === 'hearing'
        ? '正在转成文字…'
        : state === 'recording'
          ? `正在听 ${seconds} 秒 · 松开发送，上滑取消`
          : '正在打开麦克风…';
  return createPortal(
    <div
      className={css.hold}
      role="status"
      data-away={hold === 'away' || undefined}
      style={{ '--level': level } as React.CSSProperties}
    >
      <i aria-hidden="true" />
      {words}
      {text !== '' && hold !== 'away' && <p>{text}</p>}
    </div>,
    document.body,
  );
};

export default VoiceHold;
