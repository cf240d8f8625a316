import { errorText, isOffline } from './api-error.ts';
import { keptUnread } from './device-full.ts';

/** Why something could not be read: without a network and with a full device, both. */
export const loadFault = (error: unknown): string =>
  isOffline(error) && keptUnread.get()
    ? '没有网络，手机存储又满了，存在这里的内容打不开。清理一些空间，或联网后再试'
    : errorText(error);
