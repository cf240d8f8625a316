import type { Parsed } from '#contract/calls.ts';
import { searchKinds } from '#contract/manage-model.ts';
import { isChatService } from '#server/engines/chat-service.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { maskedBody, readBody, readHeaders, readProxy } from './channel-wire.ts';
import type { ChannelRow } from './model.store.ts';

type Extras = Pick<
  Parsed<'saveChannel'>,
  'headers' | 'body' | 'proxy' | 'tag' | 'parallel' | 'factor' | 'maker' | 'groups'
>;

/** What only chats have: elsewhere it would change nothing. */
const ofChats = ['headers', 'body', 'proxy'] as const;
/** Services that answer nobody in a session: all work of the site is theirs. */
const asides: readonly string[] = ['embedding', 'replicate', ...searchKinds];

const asksNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

/** Nothing is taken that would have no effect. @throws Refusal bad_input */
export const requireFitting = (
  input: Extras & {
    kind: Parsed<'saveChannel'>['kind'];
    models?: Parsed<'saveChannel'>['models'];
  },
): void => {
  const { kind, models = [] } = input;
  const refuse = (field: string): never => {
    throw new Refusal('bad_input', `${field}：这一类服务没有这一项，请去掉`);
  };
  if (kind !== 'openai-compatible' && input.maker) refuse('maker');
  if (asides.includes(kind))
    for (const field of ['groups', 'parallel'] as const)
      if (!asksNothing(input[field])) refuse(field);
  if (isChatService(kind)) return;
  for (const field of ofChats) if (!asksNothing(input[field])) refuse(field);
  if ((input.factor ?? 1) !== 1) refuse('factor');
  if (models.some(({ name, upstream = name }) => upstream !== name)) refuse('models');
};

/**
 * What a form says of the way of a channel's requests; what it leaves out stays.
 * @param known what the channel has, and whether it goes to another address now @throws Refusal
 */
export const extrasOf = (
  input: Extras,
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
