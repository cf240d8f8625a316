import { accountOf } from '#src/platform/account-of.ts';
import { errorText } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { readDraft, useDraft } from '#src/platform/draft.ts';
import { feel } from '#src/platform/haptics.ts';
import { reportTime } from '#src/platform/report-time.ts';
import { toast } from '#src/platform/toast.ts';
import { upload } from '#src/platform/upload.ts';
import { uuid } from '#src/platform/uuid.ts';
import { useEffect, useRef, useState } from 'react';
import { deviceHears, listen } from './device-speech.ts';
import { dropSound, isHere, keepPiece, keepWhole, soundLeft } from './kept-sound.ts';
import {
  longestRecording,
  MicrophoneError,
  openMicrophone,
  record,
  release,
  wantsAnotherPress,
  type Recording,
} from './recorder.ts';

/** The name of the browser's own recognition among the models. */
export const device = 'device';
/** Words that were heard and not put into a box yet. */
const place = 'voice';

export type RecorderState = 'ready' | 'granted' | 'opening' | 'recording' | 'hearing';

/** A recording that is not in words yet. */
interface Unheard {
  sound: Blob;
  model: string;
  /** Idempotency key: what the server heard already is not paid for again. */
  key: string;
  /** Who said it: it is offered to no other. */
  account: string;
}

/** Why the browser did not hear, and what else does: a model's name, if there is one. */
const deviceErrorText = (error: string, other: string | undefined): string => {
  if (error === 'not-allowed') return '无法捕获您的麦克风，请在浏览器设置里允许本站使用';
  if (!navigator.onLine) return '没有网络，浏览器这时不会识别';
  if (deviceHears()) return '浏览器的语音识别没有成功，请再试一次';
  return other === undefined
    ? '浏览器的语音识别连不上'
    : `浏览器的语音识别连不上，已换成${other}，请再说一次`;
};

/** Tells the server how the recognition went. */
const report = (state: 'success' | 'error', model: string, from: number): void => {
  const time = performance.now() - from;
  reportTime({ model, state, asked: Date.now() - time, time });
};

/** Turns recordings into words at the end of the draft; one that failed is kept to be tried again. */
const useHearing = (
  { open, account }: { open: boolean; account: string },
  name: string,
  setState: (state: RecorderState) => void,
) => {
  const [text, setText] = useDraft(place);
  const [unheard, setUnheard] = useState<Unheard | null>(null);
  const forget = () => {
    setUnheard(null);
    void dropSound();
  };
  useEffect(() => {
    const find = async () => {
      const left = await soundLeft();
      if (left && isHere(account))
        setUnheard((now) => (now?.account === account ? now : { ...left, account }));
    };
    // What a page before this one recorded, or what was begun when the sheet was closed.
    if (open) void find();
  }, [open, account]);
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
      if (!isHere(spoken.account)) return;
      if (heard.text === '') toast('没有听到说话');
      setText(readDraft(place) + heard.text);
      forget();
    } catch (error) {
      report('error', spoken.model, from);
      if (!isHere(spoken.account)) return;
      setUnheard(spoken);
      toast(errorText(error), 'error');
    }
    setState('ready');
  };
  const hearAgain = (spoken: Unheard) => {
    const other = name !== device && name !== spoken.model;
    void hear(other ? { ...spoken, model: name, key: uuid() } : spoken);
  };
  const own = unheard?.account === account ? unheard : null;
  return { text, setText, unheard: own, hear, hearAgain, forget };
};

/** How loud it is (0 to 1) and how many seconds passed, while it records; ends it at the longest. */
const useMeter = (recording: boolean, level: () => number | undefined, end: () => void) => {
  const [meter, setMeter] = useState({ level: 0, seconds: 0 });
  const latest = useRef({ level, end });
  useEffect(() => {
    latest.current = { level, end };
  });
  useEffect(() => {
    if (!recording) return undefined;
    const from = performance.now();
    const timer = setInterval(() => {
      const seconds = Math.floor((performance.now() - from) / 1000);
      const loud = latest.current.level();
      setMeter({ level: loud ?? 0.3, seconds });
      if (loud === undefined || seconds < longestRecording) return;
      toast(`一次最多录 ${longestRecording} 秒，这一段先转成文字，可以接着再录`);
      latest.current.end();
    }, 80);
    return () => {
      clearInterval(timer);
      setMeter({ level: 0, seconds: 0 });
    };
  }, [recording]);
  return meter;
};

/**
 * Opens the microphone if it is closed, and records. Null: another press is wanted; undefined: it is
 * wanted no more.
 */
const begin = async (
  stream: { current: MediaStream | null },
  told: { opening: () => void; wanted: () => boolean; onPiece: (piece: Blob) => void },
): Promise<Recording | null | undefined> => {
  const pressedAgain = stream.current !== null;
  if (!stream.current) {
    told.opening();
    const opened = await openMicrophone();
    if (!told.wanted()) {
      release(opened);
      return undefined;
    }
    stream.current = opened;
  }
  // Safari gives the microphone on the first press and records on the next; after that a press
  // begins and a second one stops, as everywhere.
  const { onPiece } = told;
  const begun =
    pressedAgain || !wantsAnotherPress()
      ? await record(stream.current, { pressedAgain, onPiece })
      : null;
  if (told.wanted()) return begun;
  begun?.cancel();
  return undefined;
};

/** Tells when the tool is closed or gone, and when another person is here. */
const useWhenLeft = (
  { open, account }: { open: boolean; account: string },
  acts: { leave: () => void; drop: () => void },
): void => {
  const latest = useRef(acts);
  const here = useRef(account);
  useEffect(() => {
    latest.current = acts;
  });
  useEffect(() => {
    if (!open) latest.current.leave();
  }, [open]);
  useEffect(() => {
    if (here.current !== account) latest.current.drop();
    here.current = account;
  }, [account]);
  useEffect(() => () => latest.current.leave(), []);
};

/**
 * Records for the model called `name` while the sheet is `open`, and writes down what was said.
 * `other` is the model that hears when the device fails, `onDeviceGone` is told when it will not again.
 */
export const useRecorder = (
  open: boolean,
  name: string,
  other: string | undefined,
  onDeviceGone: () => void,
) => {
  const { token } = useAuth();
  const [state, setState] = useState<RecorderState>('ready');
  const account = accountOf(token);
  /** Who began to speak. */
  const speaker = useRef(account);
  const { hear, forget, ...words } = useHearing({ open, account }, name, setState);
  const stream = useRef<MediaStream | null>(null);
  const recording = useRef<Recording | null>(null);
  const listening = useRef<ReturnType<typeof listen> | null>(null);
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
  };
  /** Who leaves in the middle finds what was said when the tool is opened again. */
  const leaveIt = () => {
    const running = recording.current;
    recording.current = null;
    const whose = speaker.current;
    void running?.stop().then((sound) => keepWhole(whose, uuid(), name, sound));
    if (running) stream.current = null;
    drop();
  };
  useWhenLeft({ open, account }, { leave: leaveIt, drop });

  const startDevice = () => {
    const before = words.text;
    listening.current = listen(
      (heard) => words.setText(before + heard),
      (error) => {
        listening.current = null;
        setState('ready');
        if (error !== '' && error !== 'aborted' && error !== 'no-speech')
          toast(deviceErrorText(error, other), 'error');
        // Written down before anything else is shown: the device is offered no more.
        if (!deviceHears()) onDeviceGone();
      },
    );
    setState('recording');
  };
  const start = async () => {
    if (token === '') {
      toast('请先发一条消息或登录，再用语音', 'error');
      return;
    }
    letGo.current = false;
    if (name === device) {
      startDevice();
      return;
    }
    const mine = turn.current;
    speaker.current = account;
    try {
      const begun = await begin(stream, {
        opening: () => setState('opening'),
        wanted: () => turn.current === mine,
        onPiece: (piece) => void keepPiece(account, name, piece),
      });
      if (begun === undefined) return;
      recording.current = begun;
      if (!begun) {
        setState('granted');
        return;
      }
      feel('tick');
      forget();
      setState('recording');
      if (letGo.current) void finish();
    } catch (error) {
      if (turn.current !== mine) return;
      drop();
      toast(error instanceof MicrophoneError ? error.message : errorText(error), 'error');
    }
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
    const whose = speaker.current;
    const sound = await running.stop();
    stream.current = null;
    const key = uuid();
    await keepWhole(whose, key, name, sound);
    if (!isHere(whose)) return;
    await hear({ sound, model: name, key, account: whose });
  };
  const meter = useMeter(
    state === 'recording',
    () => recording.current?.level(),
    () => void finish(),
  );
  /** What was said is not wanted. */
  const cancel = () => {
    drop();
    forget();
  };
  return { state, ...meter, ...words, start, finish, cancel, forget };
};
