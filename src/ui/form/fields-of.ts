import type * as z from 'zod/mini';
import type { Field } from './field.ts';

/** The parts of a schema's definition that are read here. */
interface Def {
  type: string;
  innerType?: Schema;
  in?: Schema;
  out?: Schema;
  options?: readonly Schema[];
  entries?: Record<string, string>;
  values?: readonly unknown[];
  checks?: readonly { _zod: { def: Record<string, unknown> } }[];
}
interface Schema {
  _zod: { def: Def };
}

interface Facts {
  kind: Field['kind'];
  required: boolean;
  min?: number;
  max?: number;
  step?: number;
  options?: { value: string; label: string }[];
}

/** Texts of more characters get several lines. */
const longFrom = 300;

const bounds = (def: Def): Pick<Facts, 'min' | 'max'> => {
  const found: Pick<Facts, 'min' | 'max'> = {};
  for (const { _zod } of def.checks ?? []) {
    const { check, value, minimum, maximum } = _zod.def;
    if (check === 'greater_than' && typeof value === 'number') found.min = value;
    if (check === 'less_than' && typeof value === 'number') found.max = value;
    if (check === 'min_length' && typeof minimum === 'number') found.min = minimum;
    if (check === 'max_length' && typeof maximum === 'number') found.max = maximum;
  }
  return found;
};

const factsOf = (schema: Schema): Facts => {
  const { def } = schema._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
      return def.innerType
        ? { ...factsOf(def.innerType), required: false }
        : { kind: 'text', required: false };
    case 'pipe': {
      const inner = def.out && def.out._zod.def.type !== 'transform' ? def.out : def.in;
      return inner ? factsOf(inner) : { kind: 'text', required: true };
    }
    case 'union': {
      // A flag: 0, 1 and their digits.
      const literal = def.options?.every((each) => each._zod.def.type === 'literal');
      const [first] = def.options ?? [];
      if (literal) return { kind: 'switch', required: false };
      return first ? factsOf(first) : { kind: 'text', required: true };
    }
    case 'boolean':
      return { kind: 'switch', required: false };
    case 'number':
      return { kind: 'number', required: true, ...bounds(def) };
    case 'enum':
      return {
        kind: 'choice',
        required: true,
        options: Object.values(def.entries ?? {}).map((value) => ({ value, label: value })),
      };
    case 'array':
      return { kind: 'many', required: false };
    default: {
      const { min, max } = bounds(def);
      return {
        kind: max !== undefined && max > longFrom ? 'long' : 'text',
        required: (min ?? 0) > 0,
        ...(min === undefined ? {} : { min }),
        ...(max === undefined ? {} : { max }),
      };
    }
  }
};

/**
 * The fields of a call's input, as its schema has them: kind, bounds, whether they must be there.
 * `said` names those that are asked for, in their order, and what the schema cannot know.
 */
export const fieldsOf = <S extends z.ZodMiniObject>(
  schema: S,
  said: { [K in keyof z.input<S>]?: Partial<Field> & { label: string } },
): Field[] =>
  Object.entries(said).flatMap(([name, more]) => {
    const part = (schema.def.shape as Record<string, Schema>)[name];
    if (!part || !more) return [];
    return [{ name, ...factsOf(part), ...more }];
  });
