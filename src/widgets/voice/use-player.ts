import { errorText } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useModel, useSpeakModels } from '#src/platform/queries.ts';
import { reportTime } from '#src/platform/report-time.ts';
import { useSaveSettings } from '#src/platform/save-settings.ts';
import { stopReading, type Spoken } from '#src/platform/speaking.ts';
import { toast } from '#src/platform/toast.ts';
import { speechText, spokenLength } from '#common/speech-text.ts';
import { limits } from '#contract/limits.ts';
import { speakingDeduction } from '#contract/price.ts';
import { useEffect, useRef, useState } from 'react';
import { deviceSpeaks } from './device-speech.ts';
import { readSound } from './read-sound.ts';
import type { Sound } from './sound-in-parts.ts';

/** The name of the device's own voice among the models. */
export const device = 'device';
const { min, max, usual } = limits.speech.speed;

/** The speed that is saved; above the range it is the usual one. */
const speedOf = (saved: number | undefined): number =>
  saved === undefined || saved > max ? usual : Math.max(min, saved);

/** Who reads: what was chosen, else the device where it can, else what is built in. */
const useReader = () => {
  const { settings, save } = useSaveSettings();
  const models = useSpeakModels().data ?? [];
  const { signedIn } = useAuth();
  const usable = models.filter(({ factor }) => signedIn || factor === 0);
  const own = deviceSpeaks();
  const saved = settings.default_audio_model ?? '';
  const named = saved === device ? own : usable.some(({ name }) => name === saved);
  const name = named
    ? saved
    : own
      ? device
      : (usable.find((each) => each.built_in)?.name ?? usable[0]?.name ?? '');
  return { name, models: usable, own, speed: speedOf(settings.audio_speed), settings, save };
};

const report = (state: 'success' | 'error', model: string, from: number): void => {
  const time = performance.now() - from;
  reportTime({ model, state, asked: Date.now() - time, time });
};

/** What plays: sound that was fetched, or the device's own voice. */
interface Playing {
  paused: boolean;
  /** All was said. */
  ended?: boolean;
  /** Part that was heard, 0 to 1. */
  at: number;
  /** Such as `0:12 / 1:05`; empty: not known. */
  time: string;
}

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
const stopped: Playing = { paused: true, at: 0, time: '' };

/** The model, voice and price that `spoken` is read with. */
const useVoice = (spoken: Spoken) => {
  const reader = useReader();
  const { name, settings } = reader;
  const model = useModel(name);
  const words = speechText(spoken.text);
  const voices = Object.entries(model?.voice ?? {});
  const voice = voices.some(([key]) => key === settings.audio_voice)
    ? (settings.audio_voice ?? '')
    : (voices[0]?.[0] ?? '');
  const price = model && model.factor > 0 ? speakingDeduction(model, spokenLength(words)) : 0;
  return { ...reader, model, words, voices, voice, price };
};

/** What the lock screen and the keys of a headset do. */
const useMediaSession = (words: string, toggle: () => void, jump: (seconds: number) => void) => {
  const latest = useRef({ toggle, jump });
  useEffect(() => {
    latest.current = { toggle, jump };
  });
  useEffect(() => {
    const session = (navigator as { mediaSession?: MediaSession }).mediaSession;
    if (!session || typeof MediaMetadata === 'undefined') return undefined;
    session.metadata = new MediaMetadata({ title: words.slice(0, 80), artist: '鹊桥' });
    session.setActionHandler('play', () => latest.current.toggle());
    session.setActionHandler('pause', () => latest.current.toggle());
    session.setActionHandler('stop', stopReading);
    session.setActionHandler('seekbackward', () => latest.current.jump(-10));
    session.setActionHandler('seekforward', () => latest.current.jump(10));
    return () => {
      for (const action of ['play', 'pause', 'stop', 'seekbackward', 'seekforward'] as const)
        session.setActionHandler(action, null);
      session.metadata = null;
    };
  }, [words]);
};

/** Sound that is fetched and then played in the element that `audio` gets. */
const useSound = (
  spoken: Spoken,
  { name, voice, speed }: { name: string; voice: string; speed: number },
) => {
  const audio = useRef<HTMLAudioElement>(null);
  const [source, setSource] = useState('');
  const [busy, setBusy] = useState(false);
  const fetching = useRef<AbortController | null>(null);
  /** Where the next source begins, seconds. */
  const startAt = useRef(0);
  const broken = useRef(false);

  const change = (url: string, at = 0) => {
    startAt.current = at;
    setSource((old) => {
      if (old !== '') URL.revokeObjectURL(old);
      return url;
    });
  };

  /** Waits for the rest of what is playing. */
  const follow = async ({ whole }: Sound, signal: AbortSignal) => {
    try {
      const instead = await whole;
      if (instead && !signal.aborted)
        change(URL.createObjectURL(instead), audio.current?.currentTime);
    } catch (error) {
      if (signal.aborted) return;
      broken.current = true;
      toast(errorText(error), 'error');
    }
  };

  const fetchSound = async (refresh: 0 | 1, at = 0) => {
    fetching.current?.abort();
    const abort = new AbortController();
    fetching.current = abort;
    setBusy(true);
    const from = performance.now();
    try {
      // Its speed is changed as it plays, so that the same sound is made once.
      const input = { model: name, voice, text: spoken.text, speed: usual, refresh };
      const about = spoken.historyId > 0 ? { history_id: spoken.historyId } : {};
      const sound = await readSound({ ...input, ...about }, abort.signal);
      report('success', name, from);
      broken.current = false;
      change(sound.url, at);
      void follow(sound, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return;
      report('error', name, from);
      toast(errorText(error), 'error');
    }
    setBusy(false);
  };

  useEffect(() => {
    const sound = audio.current;
    if (!sound || source === '') return;
    sound.src = source;
    if (startAt.current > 0) sound.currentTime = startAt.current;
    sound.play().catch(() => undefined);
  }, [source]);
  useEffect(() => {
    const sound = audio.current;
    if (!sound) return;
    // The one counts now, the other once another sound is loaded.
    sound.playbackRate = speed;
    sound.defaultPlaybackRate = speed;
  }, [speed]);
  useEffect(() => () => fetching.current?.abort(), []);
  const jump = (seconds: number) => {
    const sound = audio.current;
    if (sound) sound.currentTime = Math.max(0, sound.currentTime + seconds);
  };
  /** Goes on at this part of it, 0 to 1. */
  const seek = (part: number) => {
    const sound = audio.current;
    if (sound && Number.isFinite(sound.duration)) sound.currentTime = part * sound.duration;
  };
  const forget = () => setSource('');
  return { audio, source, busy, broken, fetchSound, forget, jump, seek };
};

/** Reads `spoken` aloud in the element that `audio` gets, or with the device's own voice. */
export const usePlayer = (spoken: Spoken) => {
  const voice = useVoice(spoken);
  const { name, speed, words, price } = voice;
  const [playing, setPlaying] = useState(stopped);
  const { audio, source, busy, broken, fetchSound, forget, jump, seek } = useSound(spoken, voice);

  const sayByDevice = () => {
    speechSynthesis.cancel();
    const saying = new SpeechSynthesisUtterance(words);
    saying.lang = /\p{Script=Han}/u.test(words) ? 'zh-CN' : 'en-US';
    saying.rate = speed;
    saying.onboundary = ({ charIndex }) =>
      setPlaying({ ...stopped, paused: false, at: charIndex / Math.max(1, words.length) });
    saying.onend = () => setPlaying({ ...stopped, ended: true });
    speechSynthesis.speak(saying);
    setPlaying({ ...stopped, paused: false });
  };

  const read = (refresh: 0 | 1, at = 0) => {
    if (name === device) sayByDevice();
    else if (name !== '') void fetchSound(refresh, at);
  };

  // What costs nothing begins at once; for the rest its price is seen before.
  const begun = useRef('');
  const key = `${name} ${voice.voice}`;
  const begin = useRef(read);
  useEffect(() => {
    begin.current = read;
  });
  useEffect(() => {
    if (name === '' || price > 0 || begun.current === key) return;
    begun.current = key;
    begin.current(0);
  }, [name, key, price]);
  useEffect(
    () => () => {
      if (deviceSpeaks()) speechSynthesis.cancel();
    },
    [],
  );

  const toggle = () => {
    if (name === device) {
      if (!speechSynthesis.speaking) sayByDevice();
      else if (playing.paused) speechSynthesis.resume();
      else speechSynthesis.pause();
      setPlaying((before) => ({ ...before, paused: !before.paused }));
      return;
    }
    const sound = audio.current;
    if (source === '') read(0);
    else if (broken.current && sound?.paused) read(0, sound.currentTime);
    else if (sound?.paused) sound.play().catch(() => undefined);
    else sound?.pause();
  };
  useMediaSession(words, toggle, jump);

  /** What the audio element tells while it plays. */
  const heard = {
    onPlay: () => setPlaying((before) => ({ ...before, paused: false, ended: false })),
    onPause: () => setPlaying((before) => ({ ...before, paused: true })),
    onEnded: () => setPlaying((before) => ({ ...before, paused: true, ended: true })),
    onError: () => {
      if (source !== '') toast('音频文件获取错误', 'error');
    },
    onTimeUpdate: ({ currentTarget }: React.SyntheticEvent<HTMLAudioElement>) => {
      const { currentTime, duration, paused } = currentTarget;
      setPlaying(({ ended: was }) => ({
        paused,
        ended: was === true && paused,
        at: duration > 0 ? currentTime / duration : 0,
        time: clock(currentTime) + (Number.isFinite(duration) ? ` / ${clock(duration)}` : ''),
      }));
    },
  };
  const waiting = source === '' && name !== device && price > 0 && !busy;
  return { ...voice, audio, seek, playing, source, busy, waiting, read, forget, toggle, heard };
};
