/** A conversation of several people as a model is given it: who says what stands before it. */

export const talkInstruction =
  '这是几个人的对话，每条消息前是说话人的名字。有人提到了你，请回答最后一条消息；不要在回答前写名字。';

export const spokenBy = (speaker: string, words: string): string => `${speaker}：${words}`;

/** What was said, without who said it and whom it begins by speaking to. */
export const withoutSpeaker = (said: string): string =>
  said.replace(/^[^：\n]{0,100}：/, '').replace(/^\s*[@＠]\S+\s+(?=\S)/, '');
