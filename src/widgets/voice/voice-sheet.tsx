import { Chip } from '#src/ui/chip.tsx';
import { useAuth } from '#src/platform/auth-store.ts';
import { priceText, useHearModels, useModel } from '#src/platform/queries.ts';
import { toast } from '#src/platform/toast.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { PathIcon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { useEffect, useRef, useState } from 'react';
import { deviceHears } from './device-speech.ts';
import { device, useRecorder, type RecorderState } from './use-recorder.ts';
import css from './voice.module.css';

/** A microphone on a 24 × 24 ground. */
const microphone =
  'M12 14.500a3 3 0 0 0 3-3v-5a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3ZM5.500 11.500a6.500 6.500 0 0 0 13 0M12 18v3';
/** A press that is held longer than this ends with the finger, ms. */
const holdMs = 350;
/** A finger that slides so far away calls it off, px. */
const awayPx = 90;

const words: Readonly<Record<RecorderState, string>> = {
  ready: '轻点开始，再点结束；或按住说话',
  granted: '已得到麦克风，请再点一次开始录音',
  opening: '正在打开麦克风…',
  recording: '正在录音',
  hearing: '正在转成文字…',
};

/** Nothing hears here: how that is changed. */
const NothingHears = ({ onLeave }: { onLeave: () => void }) => {
  const { user } = useAuth();
  return (
    <div className={css.none} role="status">
      <p>
        这里还没有语音识别：这个浏览器自己不会，或它的识别服务连不上。
        {user?.admin
          ? '接入一个识别服务，或下载一个识别模型，就能用。'
          : '管理员接入识别服务或下载识别模型后就能用；手机键盘上的麦克风现在也能写字。'}
      </p>
      <p className={css.noneActs}>
        {user?.admin && (
          <ButtonLink size="small" to="/manager/model" onClick={onLeave}>
            接入识别服务
          </ButtonLink>
        )}
        <ButtonLink size="small" to="/help" search={{ page: 'speech' }} onClick={onLeave}>
          怎么下载一个
        </ButtonLink>
      </p>
    </div>
  );
};

/** The button to tap or to hold, and what is going on; `factor` is the model's price of a second. */
const Microphone = ({
  recorder: { state, level, seconds, start, finish, cancel },
  factor,
}: {
  recorder: ReturnType<typeof useRecorder>;
  factor: number;
}) => {
  const press = useRef<{ at: number; x: number; y: number; began: boolean } | null>(null);
  const [away, setAway] = useState(false);
  const recording = state === 'recording';
  const busy = state === 'opening' || state === 'hearing';
  const onDown = (event: React.PointerEvent<HTMLButtonElement>) => {
    if (busy) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const { clientX: x, clientY: y } = event;
    press.current = { at: event.timeStamp, x, y, began: !recording };
    if (!recording) void start();
  };
  const isAway = (event: React.PointerEvent) => {
    const from = press.current;
    return from !== null && Math.hypot(event.clientX - from.x, event.clientY - from.y) > awayPx;
  };
  const onUp = (event: React.PointerEvent) => {
    const from = press.current;
    if (!from) return;
    const cancelled = isAway(event);
    press.current = null;
    setAway(false);
    if (cancelled) {
      cancel();
      toast('已取消');
      return;
    }
    // By when the finger moved: a busy phone hears of it later.
    const held = event.timeStamp - from.at > holdMs;
    // A tap locks the recording on; the next one ends it.
    if (!from.began || held) void finish();
  };
  const cost = factor > 0 ? ` · 约 ${Math.ceil(Math.max(1, seconds) * factor)} tokens` : '';
  return (
    <>
      <button
        type="button"
        className={css.mic}
        data-state={state}
        data-away={away || undefined}
        aria-label={recording ? '结束录音' : '开始录音'}
        aria-pressed={recording}
        disabled={busy}
        style={{ '--level': level } as React.CSSProperties}
        onPointerDown={onDown}
        onPointerMove={(event) => {
          if (press.current) setAway(isAway(event));
        }}
        onPointerUp={onUp}
        onPointerCancel={onUp}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== ' ') return;
          event.preventDefault();
          if (recording) void finish();
          else void start();
        }}
      >
        <PathIcon path={microphone} size={34} />
      </button>
      <p className={css.state} role="status">
        {away
          ? '松开取消'
          : recording
            ? `${words[state]} ${seconds} 秒${cost} · 滑开取消`
            : words[state]}
      </p>
    </>
  );
};

/** The voice tool: records, and what was said can be mended before it goes into the box. */
const VoiceSheet = ({
  open,
  onClose,
  onText,
}: {
  open: boolean;
  onClose: () => void;
  onText: (text: string) => void;
}) => {
  const hearing = useHearModels();
  const models = hearing.data ?? [];
  const own = deviceHears();
  const [chosen, setChosen] = useState('');
  const name = chosen || (own ? device : (models[0]?.name ?? ''));
  const model = useModel(name);
  const recorder = useRecorder(open, name, models[0]?.label, () => setChosen(''));
  const { state, text, setText, unheard, hearAgain, forget } = recorder;
  const choices = [
    ...(own ? [{ name: device, label: '浏览器自带', price: '免费' }] : []),
    ...models.map((each) => ({
      name: each.name,
      label: each.label,
      price: each.factor === 0 ? '免费' : `每秒 ${each.factor} tokens`,
    })),
  ];
  const only = choices.length === 1 && text === '' && unheard === null ? name : '';
  const begun = useRef(false);
  // The press that opened it is the one that begins, where there is nothing to choose or to finish.
  useEffect(() => {
    if (!open) begun.current = false;
    else if (only !== '' && !begun.current && state === 'ready') {
      begun.current = true;
      void recorder.start();
    }
  });
  const put = () => {
    onText(text.trim());
    setText('');
    onClose();
  };
  return (
    <Sheet popover="panel" open={open} onClose={onClose} title="语音输入">
      <div className={css.tool}>
        {choices.length === 0 && !hearing.isPending && <NothingHears onLeave={onClose} />}
        {choices.length > 0 && (
          <>
            <div className={css.models} role="radiogroup" aria-label="识别模型">
              {choices.map((choice) => (
                <Chip
                  key={choice.name}
                  role="radio"
                  aria-checked={choice.name === name}
                  disabled={state !== 'ready'}
                  onClick={() => setChosen(choice.name)}
                >
                  {choice.label}
                  <small>{choice.price}</small>
                </Chip>
              ))}
            </div>
            <Microphone recorder={recorder} factor={model?.factor ?? 0} />
            {unheard && state === 'ready' && (
              <div className={css.unheard} role="alert">
                <span>录音还在，还没有转成文字。</span>
                <Button size="small" onClick={() => hearAgain(unheard)}>
                  再转一次
                </Button>
                <Button size="small" kind="ghost" onClick={forget}>
                  不要了
                </Button>
              </div>
            )}
          </>
        )}
        {(choices.length > 0 || text !== '') && (
          <>
            <textarea
              className="text-input"
              rows={3}
              value={text}
              placeholder="说的话会写在这里，可以改"
              aria-label="识别出的文字"
              onChange={(event) => setText(event.target.value)}
            />
            <Button kind="primary" disabled={text.trim() === ''} onClick={put}>
              放入输入框
            </Button>
          </>
        )}
        {model && model.factor > 0 && (
          <p className="field-hint">
            {model.label}：{priceText(model)}，按录音的秒数计费，没有成功不收费
          </p>
        )}
      </div>
    </Sheet>
  );
};

export default VoiceSheet;
