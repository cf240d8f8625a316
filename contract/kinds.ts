/**
 * The numbers by which the wire names kinds of things; without the validator, so that the page may
 * load them.
 */

/** Kinds of session (document 1 §3); 2 is a question or a talk between people. */
export const sessionTypes = { chat: 0, image: 1, people: 2, video: 4 } as const;

/** Kinds of model (document 1 §3). */
export const modelTypes = {
  chat: 0,
  image: 1,
  speechToText: 2,
  textToSpeech: 3,
  video: 4,
} as const;

/** Kinds of order by the specification's numbers; 6 is ours. */
export const orderTypes = { token: 1, vip: 2, invite: 3, code: 4, codePro: 5, app: 6 } as const;

/** How long a model is to think before it answers: auto leaves it to the model. */
export const thinkingChoices = ['auto', 'fast', 'deep'] as const;

/** In which words a model is told so (`common/thinking-models.ts`). */
export const thinkingWords = ['effort', 'type', 'switch', 'template'] as const;

/** What a template is for (document 3 §3). */
export const promptTypes = { chat: 0, image: 1 } as const;
