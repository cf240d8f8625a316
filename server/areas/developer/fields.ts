import { type ChannelKind, isHarmless, type OpenFields } from '../../../contract/open-fields.ts';
import { Refusal } from '../../http/handlers.ts';
import type { OpenContext } from '../../http/open-routes.ts';

/**
 * The fields of a request that go on to a channel of this kind, by their list: nothing else leaves.
 * A header of the answer names those that were taken and change nothing.
 * @throws Refusal bad_input, naming the field
 */
export const takeFields = (
  context: Pick<OpenContext, 'header'>,
  fields: OpenFields,
  given: Record<string, unknown>,
  kind: ChannelKind,
): Record<string, unknown> => {
  const passed: Record<string, unknown> = {};
  const idle: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    const field = fields[name];
    const fate = field?.[kind] ?? 'refused';
    if (fate === 'passed') passed[name] = value;
    else if (fate === 'idle') idle.push(name);
    else if (fate === 'refused' && !isHarmless(value, field?.harmless ?? []))
      throw new Refusal('bad_input', `${name} ${field?.note ?? '不认识这个字段'}`);
  }
  if (idle.length > 0) context.header('x-ignored-fields', idle.join(', '));
  return passed;
};
