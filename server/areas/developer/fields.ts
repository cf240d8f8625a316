import { type ChannelKind, dialects, isHarmless, type OpenFields } from '#contract/open-fields.ts';
import { Refusal } from '#server/http/handlers.ts';
import { tellIgnored } from '#server/http/ignored-fields.ts';
import type { OpenContext } from '#server/http/open-handlers.ts';

type Json = Record<string, unknown>;

const isDialect = (kind: ChannelKind): boolean => (dialects as readonly string[]).includes(kind);

/** What becomes of a request's fields at a channel of this kind, by their list. */
const fatesOf = (fields: OpenFields, given: Json, kind: ChannelKind) => {
  const passed: Json = {};
  const idle: string[] = [];
  let refusal: Refusal | null = null;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    const field = fields[name];
    const fate = field?.[kind] ?? 'refused';
    if (fate === 'passed') passed[name] = value;
    else if (fate === 'idle') idle.push(name);
    else if (fate === 'refused' && !isHarmless(value, field?.harmless ?? [])) {
      const own = field && isDialect(kind) && field.service !== 'refused';
      const note = own ? '：这个模型的服务没有这个参数' : ` ${field?.note ?? '不认识这个字段'}`;
      refusal ??= new Refusal('bad_input', `${name}${note}`);
    }
  }
  return { passed, idle, refusal };
};

/**
 * The fields of a request that go on to a channel of this kind, by their list: nothing else leaves.
 * A header of the answer names those that were taken and change nothing.
 * @throws Refusal bad_input, naming the field
 */
export const takeFields = (
  context: Pick<OpenContext, 'header'>,
  fields: OpenFields,
  given: Json,
  kind: ChannelKind,
): Json => {
  const { passed, idle, refusal } = fatesOf(fields, given, kind);
  if (refusal) throw refusal;
  tellIgnored(context, idle);
  return passed;
};

/** Why a channel of this kind cannot be asked this; null: it can, and the header names what it ignores. */
export const unableBy = (
  context: Pick<OpenContext, 'header'>,
  fields: OpenFields,
  given: Json,
  kind: ChannelKind,
): Refusal | null => {
  const { idle, refusal } = fatesOf(fields, given, kind);
  if (!refusal) tellIgnored(context, idle);
  return refusal;
};
