/** What the browser itself hears and says; nothing of it goes through this server. */

interface Result {
  isFinal: boolean;
  0: { transcript: string };
}
interface Recognition {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  addEventListener: (
    name: 'result' | 'error' | 'end',
    hear: (event: { results: ArrayLike<Result>; error: string }) => void,
    options: { signal: AbortSignal },
  ) => void;
  start: () => void;
  stop: () => void;
  abort: () => void;
}

const recognitionClass = (): (new () => Recognition) | undefined => {
  const names = window as unknown as Record<string, (new () => Recognition) | undefined>;
  return names['SpeechRecognition'] ?? names['webkitSpeechRecognition'];
};

/** Whether a browser that offers it has said that it can not: its own service is out of reach. */
let isDeaf = false;

export const deviceHears = (): boolean => !isDeaf && recognitionClass() !== undefined;

/** Errors after which trying again in this browser fails, too. */
const deafness: ReadonlySet<string> = new Set([
  'network',
  'service-not-allowed',
  'language-not-supported',
]);

/** Listens until it is told to stop; `onText` gets all that was heard so far. */
export const listen = (
  onText: (text: string) => void,
  onEnd: (error: string) => void,
): { stop: () => void; cancel: () => void } => {
  const Class = recognitionClass();
  if (!Class) throw new Error('nothing listens here');
  const recognition = new Class();
  const left = new AbortController();
  let error = '';
  recognition.lang = 'zh-CN';
  recognition.continuous = true;
  recognition.interimResults = true;
  const { signal } = left;
  recognition.addEventListener(
    'result',
    ({ results }) => onText(Array.from(results, (result) => result[0].transcript).join('')),
    { signal },
  );
  recognition.addEventListener(
    'error',
    (event) => {
      error = event.error;
    },
    { signal },
  );
  recognition.addEventListener(
    'end',
    () => {
      if (deafness.has(error) && navigator.onLine) isDeaf = true;
      onEnd(error);
    },
    { signal },
  );
  recognition.start();
  return {
    stop: () => recognition.stop(),
    cancel: () => {
      left.abort();
      recognition.abort();
    },
  };
};

/** The device has a voice of its own. Some tell of their voices only after a while. */
export const deviceSpeaks = (): boolean =>
  'speechSynthesis' in window && speechSynthesis.getVoices().length > 0;
