import { modelTypes } from '#contract/kinds.ts';
import type { Settings } from '#contract/auth.ts';
import type { Out } from '#contract/calls.ts';
import type { Model } from '#contract/model.ts';
import { useQuery } from '@tanstack/react-query';
import { api } from './api.ts';
import { steady, useCall } from './call-query.ts';
import { accountOf } from './account-of.ts';
import { authStore, useAuth } from './auth-store.ts';
import { usePrefs } from './prefs.ts';
import { settingsOf } from './saved-settings.ts';
import { useSite } from './site.ts';

type Models = Out<'models'>;
const ofType = (type: number) => (data: Models) =>
  data.models.filter((model) => model.type === type && model.display);
const hearModels = ofType(modelTypes.speechToText);
const speakModels = ofType(modelTypes.textToSpeech);
const ofSessions = {
  chat: ofType(modelTypes.chat),
  image: ofType(modelTypes.image),
  video: ofType(modelTypes.video),
};
/** What a session is for: words, images or videos. */
export type ModelKind = keyof typeof ofSessions;
const allModels = (data: Models) => data.models;
const shownModels = (data: Models) => data.models.filter(({ display }) => display);
const usualChat = (data: Models) => data.models.find(({ name }) => name === data.default_model);

const useModels = <T>(select: (data: Models) => T) =>
  useCall('models', {}, { select, staleTime: 5 * 60_000, meta: { steady: true } });

/** The models of a kind of session that can be chosen now. */
export const useModelsOf = (kind: ModelKind) => useModels(ofSessions[kind]);

/** All that can be chosen now, of whatever kind. */
export const useShownModels = () => useModels(shownModels);

/** The chat models that can be chosen now. */
export const useChatModels = () => useModelsOf('chat');

/** The models of images that can be chosen now. */
export const useImageModels = () => useModelsOf('image');

/** The models of videos that can be chosen now. */
export const useVideoModels = () => useModelsOf('video');

/** The models that read aloud. */
export const useSpeakModels = () => useModels(speakModels);

/** The models that write down what is said. */
export const useHearModels = () => useModels(hearModels);

/** The chat model that the server gives this person where none is named. */
export const useUsualModel = (): Model | undefined => useModels(usualChat).data ?? undefined;

/** The model that translates for this person; undefined: only what is built in is there. */
export const useWriter = (): Model | undefined => {
  const usual = useUsualModel();
  return usual?.built_in ? undefined : usual;
};

/** A model of any kind by its name, as people see it. */
export const useModel = (name: string): Model | undefined =>
  useModels(allModels).data?.find((model) => model.name === name);

/** The account behind the token, with its balance and settings; not asked for without a token. */
export const useMe = () => {
  const { token, user } = useAuth();
  return useQuery({
    queryKey: ['userInfo'],
    queryFn: async ({ signal }) => {
      const fresh = await api.userInfo({}, { signal, quiet: true });
      if (authStore.get().token !== '') authStore.set({ user: fresh });
      return fresh;
    },
    enabled: token !== '',
    placeholderData: user ?? undefined,
  });
};

/** The saved settings; empty for visitors. */
export const useSettings = (): Settings => settingsOf(useAuth().user);

/** The model a new session gets: the one chosen here last, else the saved default, else as the server decides. */
export const useChosenModel = (): Model | undefined => {
  const { model } = usePrefs();
  const { default_chat_model: saved } = useSettings();
  const models = useChatModels().data ?? [];
  const usual = useUsualModel();
  const open = (name: string | undefined) =>
    models.find((each) => each.name === name && each.locked === 0);
  return open(model) ?? open(saved) ?? usual;
};

/**
 * The model of images a new session gets: the one chosen here last, else the saved default, else
 * one of Midjourney's family, else the built-in one.
 */
export const useChosenPainter = (): Model | undefined => {
  const { painter } = usePrefs();
  const { signedIn, user } = useAuth();
  const { default_image_model: saved } = useSettings();
  // What nobody chose is never dearer than what is left.
  const within = (tokens: number) => (user?.vip ?? 0) > 0 || tokens <= (user?.chatgpt_balance ?? 0);
  const models = useImageModels().data ?? [];
  const named = (name: string | undefined) => models.find((each) => each.name === name);
  const usable = models.filter(({ factor }) => signedIn || factor === 0);
  return (
    named(painter) ??
    named(saved) ??
    usable.find(({ image, factor }) => image?.family === 'midjourney' && within(4 * factor)) ??
    usable.find((each) => each.built_in) ??
    models[0]
  );
};

/** What a visitor has acknowledged of the notices, whom the server does not know: a number of one. */
const seenKey = 'queqiao.notice';
const seenHere = (): number => {
  try {
    return Number(localStorage.getItem(seenKey)) || 0;
  } catch {
    return 0;
  }
};

/** A visitor has read the notices up to this one. */
export const keepNoticeSeen = (id: number): void => {
  try {
    localStorage.setItem(seenKey, String(id));
  } catch {
    // It comes again with the next load.
  }
};

/** The newest notice that was not read, and how many were not. */
export const useUnreadNotices = () => {
  const { token } = useAuth();
  const { data } = useCall('noticeInfo', {}, { ...steady, apart: accountOf(token), retry: false });
  const notice = data?.list.find(({ id }) => token !== '' || id > seenHere());
  return { notice, count: notice ? (data?.unread ?? 0) : 0 };
};

/** Address of the official site, without a slash at its end; empty: there is none, or it is not known yet. */
export const useOfficialSite = (): string => useSite().official_site;

/** What a model costs, in two or three characters. */
export const priceText = (model: Pick<Model, 'factor'>): string =>
  model.factor === 0 ? '免费' : `×${model.factor}`;
