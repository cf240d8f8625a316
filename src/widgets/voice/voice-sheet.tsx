import { Chip } from '@/ui/chip.tsx';
import { errorText } from '@/platform/api-error.ts';
import { readDraft, useDraft } from '@/platform/draft.ts';
import { reportTime } from '@/platform/report-time.ts';
import { useAuth } from '@/platform/auth-store.ts';
import { feel } from '@/platform/haptics.ts';
import { priceText, useHearModels, useModel } from '@/platform/queries.ts';
import { toast } from '@/platform/toast.ts';
import { upload } from '@/platform/upload.ts';
import { uuid } from '@/platform/uuid.ts';
import { Button, ButtonLink } from '@/ui/button.tsx';
import { PathIcon } from '@/ui/icon.tsx';
import { Sheet } from '@/ui/sheet.tsx';
import { useEffect, useRef, useState } from 'react';
import { deviceHears, listen } from './device-speech.ts';
import {
  longestRecording,
  MicrophoneError,
  openMicrophone,
  record,
  release,
  wantsAnotherPress,
  type Recording,
} from './recorder.ts';
import css from './voice.module.css';

/** A microphone on a 24 × 24 ground. */
const microphone =
  'M12 14.500a3 3 0 0 0 3-3v-5a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3ZM5.500 11.500a6.500 6.500 0 0 0 13 0M12 18v3';
/** A press that is held longer than this ends with the finger, ms. */
const holdMs = 350;
/** A finger that slides so far away calls it off, px. */
const awayPx = 90;
const device = 'device';

type State = 'ready' | 'granted' | 'opening' | 'recording' | 'hearing';

const words: Readonly<Record<State, string>> = {
  ready: '轻点开始，再点结束；或按住说话',
  granted: '已得到麦克风，请再点一次开始录音',
  opening: '正在打开麦克风…',
  recording: '正在录音',
  hearing: '正在转成文字…',
};

/** Why the browser did not hear, and what else does: a model's name, if there is one. */
const deviceErrorText = (error: string, other: string | undefined): string => {
  if (error === 'not-allowed') return '无法捕获您的麦克风，请在浏览器设置里允许本站使用';
  if (!navigator.onLine) return '没有网络，浏览器这时不会识别';
  if (deviceHears()) return '浏览器的语音识别没有成功，请再试一次';
  return other === undefined
    ? '浏览器的语音识别连不上'
    : `浏览器的语音识别连不上，已换成${other}，请再说一次`;
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

/** Words that were heard and not put into a box yet. */
const place = 'voice';

/** A recording that is not in words yet. */
interface Unheard {
  sound: Blob;
  model: string;
  /** Idempotency key: what the server heard already is not paid for again. */
  key: string;
}

/** Tells the server how the recognition went. */
const report = (state: 'success' | 'error', model: string, from: number): void => {
  const time = performance.now() - from;
  reportTime({ model, state, asked: Date.now() - time, time });
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
  const { token } = useAuth();
  const hearing = useHearModels();
  const models = hearing.data ?? [];
  const own = deviceHears();
  const [chosen, setChosen] = useState('');
  const name = chosen || (own ? device : (models[0]?.name ?? ''));
  const model = useModel(name);
  const [state, setState] = useState<State>('ready');
  const [text, setText] = useDraft(place);
  const [unheard, setUnheard] = useState<Unheard | null>(null);
  const [level, setLevel] = useState(0);
  const [away, setAway] = useState(false);
  const [seconds, setSeconds] = useState(0);
  const stream = useRef<MediaStream | null>(null);
  const recording = useRef<Recording | null>(null);
  const listening = useRef<ReturnType<typeof listen> | null>(null);
  const press = useRef<{ at: number; x: number; y: number; began: boolean } | null>(null);
  /** The finger left before the microphone was open. */
  const letGo = useRef(false);
  /** Grows when what was begun is wanted no more. */
  const turn = useRef(0);

  const drop = () => {
    turn.current += 1;
    recording.current?.cancel();
    listening.current?.cancel();
    if (stream.current) release(stream.current);
    recording.current = null;
    listening.current = null;
    stream.current = null;
    setState('ready');
    setAway(false);
  };
  const leave = useRef(drop);
  useEffect(() => {
    leave.current = drop;
  });
  useEffect(() => {
    if (!open) leave.current();
    return undefined;
  }, [open]);
  useEffect(() => () => leave.current(), []);
  const start = async () => {
    if (token === '') {
      toast('请先发一条消息或登录，再用语音', 'error');
      return;
    }
    letGo.current = false;
    const mine = turn.current;
    setSeconds(0);
    setLevel(0);
    if (name === device) {
      const before = text;
      listening.current = listen(
        (heard) => setText(before + heard),
        (error) => {
          listening.current = null;
          setState('ready');
          if (error !== '' && error !== 'aborted' && error !== 'no-speech')
            toast(deviceErrorText(error, models[0]?.label), 'error');
          // Written down before anything else is shown: the device is offered no more.
          if (!deviceHears()) setChosen('');
        },
      );
      setState('recording');
      return;
    }
    try {
      const pressedAgain = stream.current !== null;
      if (!stream.current) {
        setState('opening');
        const opened = await openMicrophone();
        if (turn.current !== mine) {
          release(opened);
          return;
        }
        stream.current = opened;
      }
      // Safari gives the microphone on the first press and records on the next; after that a press
      // begins and a second one stops, as everywhere.
      const begun =
        pressedAgain || !wantsAnotherPress()
          ? await record(stream.current, { pressedAgain })
          : null;
      if (turn.current !== mine) {
        begun?.cancel();
        return;
      }
      recording.current = begun;
      if (!begun) {
        setState('granted');
        return;
      }
      feel('tick');
      setUnheard(null);
      setState('recording');
      if (letGo.current) void finish();
    } catch (error) {
      if (turn.current !== mine) return;
      drop();
      toast(error instanceof MicrophoneError ? error.message : errorText(error), 'error');
    }
  };

  const hear = async (spoken: Unheard) => {
    setState('hearing');
    const from = performance.now();
    try {
      const heard = await upload('speechToText', spoken.sound, {
        fileName: 'audio.wav',
        fields: { model: spoken.model },
        idempotencyKey: spoken.key,
        signal: new AbortController().signal,
        onProgress: () => {},
      });
      report('success', spoken.model, from);
      setUnheard(null);
      if (heard.text === '') toast('没有听到说话');
      setText(readDraft(place) + heard.text);
    } catch (error) {
      report('error', spoken.model, from);
      setUnheard(spoken);
      toast(errorText(error), 'error');
    }
    setState('ready');
  };
  const hearAgain = (spoken: Unheard) => {
    const other = name !== device && name !== spoken.model;
    void hear(other ? { ...spoken, model: name, key: uuid() } : spoken);
  };

  const finish = async () => {
    if (listening.current) {
      listening.current.stop();
      return;
    }
    const running = recording.current;
    if (!running) {
      letGo.current = true;
      return;
    }
    recording.current = null;
    setState('hearing');
    const sound = await running.stop();
    stream.current = null;
    await hear({ sound, model: name, key: uuid() });
  };
  const end = useRef(finish);
  useEffect(() => {
    end.current = finish;
  });

  useEffect(() => {
    if (state !== 'recording') return undefined;
    const from = performance.now();
    const timer = setInterval(() => {
      const passed = Math.floor((performance.now() - from) / 1000);
      setLevel(recording.current?.level() ?? 0.3);
      setSeconds(passed);
      if (recording.current === null || passed < longestRecording) return;
      toast(`一次最多录 ${longestRecording} 秒，这一段先转成文字，可以接着再录`);
      void end.current();
    }, 80);
    return () => clearInterval(timer);
  }, [state]);

  const busy = state === 'opening' || state === 'hearing';
  const onDown = (event: React.PointerEvent<HTMLButtonElement>) => {
    if (busy) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const began = state !== 'recording';
    press.current = { at: performance.now(), x: event.clientX, y: event.clientY, began };
    if (began) void start();
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
      drop();
      toast('已取消');
      return;
    }
    const held = performance.now() - from.at > holdMs;
    // A tap locks the recording on; the next one ends it.
    if (!from.began || held) void finish();
  };
  const put = () => {
    onText(text.trim());
    setText('');
    onClose();
  };
  const choices = [
    ...(own ? [{ name: device, label: '浏览器自带', price: '免费' }] : []),
    ...models.map((each) => ({
      name: each.name,
      label: each.label,
      price: each.factor === 0 ? '免费' : `每秒 ${each.factor} tokens`,
    })),
  ];
  return (
    <Sheet open={open} onClose={onClose} title="语音输入">
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
            <button
              type="button"
              className={css.mic}
              data-state={state}
              data-away={away || undefined}
              aria-label={state === 'recording' ? '结束录音' : '开始录音'}
              aria-pressed={state === 'recording'}
              disabled={busy}
              style={{ '--level': state === 'recording' ? level : 0 } as React.CSSProperties}
              onPointerDown={onDown}
              onPointerMove={(event) => {
                if (press.current) setAway(isAway(event));
              }}
              onPointerUp={onUp}
              onPointerCancel={onUp}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' && event.key !== ' ') return;
                event.preventDefault();
                if (state === 'recording') void finish();
                else void start();
              }}
            >
              <PathIcon path={microphone} size={34} />
            </button>
            <p className={css.state} role="status">
              {away
                ? '松开取消'
                : state === 'recording'
                  ? `${words[state]} ${seconds} 秒${model && model.factor > 0 ? ` · 约 ${Math.ceil(Math.max(1, seconds) * model.factor)} tokens` : ''} · 滑开取消`
                  : words[state]}
            </p>
            {unheard && state === 'ready' && (
              <div className={css.unheard} role="alert">
                <span>录音还在，还没有转成文字。</span>
                <Button size="small" onClick={() => hearAgain(unheard)}>
                  再转一次
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
