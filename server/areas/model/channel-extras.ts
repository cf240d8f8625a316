import type { Parsed } from '#contract/calls.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { maskedBody, readBody, readHeaders, readProxy } from './channel-wire.ts';
import type { ChannelRow } from './model.store.ts';

/**
 * What a form says of the way of a channel's requests; what it leaves out stays.
 * @param known what the channel has, and whether it goes to another address now @throws Refusal
 */
export const extrasOf = (
  input: Parsed<'saveChannel'>,
  { options: before, moved }: { options: ChannelRow['options']; moved: boolean },
  user: Pick<Identity, 'owner'>,
): ChannelRow['options'] => {
  // As a key, a header or a secret of the body goes only to the address that it was entered for.
  if (moved && before.headers && input.headers === undefined)
    throw new Refusal('bad_input', 'headers：地址变了，请重新填写附加请求头');
  const headers =
    input.headers === undefined
      ? before.headers
      : readHeaders(input.headers, moved ? {} : before.headers);
  const masked = JSON.stringify(maskedBody(before.body)) !== JSON.stringify(before.body ?? {});
  if (moved && masked && input.body === undefined)
    throw new Refusal('bad_input', 'body：地址变了，请重新填写附加字段');
  const body =
    input.body === undefined ? before.body : readBody(input.body, moved ? {} : before.body);
  const proxy = input.proxy === undefined ? (before.proxy ?? '') : readProxy(input.proxy);
  // Everybody's questions pass through there.
  if (proxy !== (before.proxy ?? '') && !user.owner)
    throw new Refusal('manage_unsuitable', '代理地址只有所有者可以更改');
  const tag = (input.tag ?? before.tag ?? '').trim();
  const parallel = input.parallel === undefined ? before.parallel : input.parallel;
  const factor = input.factor ?? before.factor ?? 1;
  const maker = input.maker === undefined ? before.maker : input.maker;
  const groups = [...new Set(input.groups ?? before.groups ?? [])];
  return {
    ...(headers && Object.keys(headers).length > 0 && { headers }),
    ...(body && Object.keys(body).length > 0 && { body }),
    ...(proxy !== '' && { proxy }),
    ...(tag !== '' && { tag }),
    ...(parallel && { parallel }),
    ...(factor !== 1 && { factor }),
    ...(maker && { maker }),
    ...(groups.length > 0 && { groups }),
  };
};
